"""A torch module as a network of real numbers, for any number of samples at once.

Decides: that torch.onnx writes the module, in evaluation mode and with an open number of samples, and what of its
complaints a user is told.  The file is read as every file of ONNX is.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import logging
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from codegen.errors import BatchFixed, CompileError, ExampleBad, ModuleMissing, ModuleNotRead, first_line
from codegen.frontends import read_real
from codegen.ir.real import RealGraph
from codegen.ir.shape import Shape
from codegen.quantizer.rewrite.exact import rewritten

_OPSET = 17
_SAMPLES = "samples"
Module = Callable[..., Any]


class Source:
    """The float network of a module, whose shapes follow the number of samples."""

    def __init__(self, module: Module, example: Any) -> None:
        """Read the module; LAM-TRAIN-001 to -003, and -007 where it takes no single sample, as the chip will."""
        self.inputs = example_of(example)
        self.names, self.onnx = onnx_of(module, self.inputs)
        self.batch = len(self.inputs[0])
        self._graphs: dict[int, RealGraph] = {}
        self.graph(1)

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """Of the example, by the names of the inputs."""
        return {name: tuple(x.shape) for name, x in zip(self.names, self.inputs, strict=True)}

    def graph(self, batch: int) -> RealGraph:
        """The network for so many samples, with what changes nothing rewritten.

        Raises:
            BatchFixed: LAM-TRAIN-007.
        """
        if batch not in self._graphs:
            self._graphs[batch] = self._read({name: (batch, *shape[1:]) for name, shape in self.shapes.items()})
        return self._graphs[batch]

    def _read(self, shapes: Mapping[str, Shape]) -> RealGraph:
        batch = next(iter(shapes.values()))[0]
        try:
            return rewritten(read_bytes(self.onnx, shapes))
        except CompileError as error:
            if batch == self.batch or not self._is_read(self.batch):
                raise
            found = f"it takes {self.batch} samples, not {batch}: {error.problems()[0].finding()}"
            raise BatchFixed(found, where="module") from None

    def _is_read(self, batch: int) -> bool:
        try:
            return bool(self.graph(batch))
        except CompileError:
            return False


def read_bytes(data: bytes, shapes: Mapping[str, Shape] | None = None) -> RealGraph:
    """The network in the bytes of an ONNX file."""
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        path = Path(folder) / "module.onnx"
        path.write_bytes(data)
        return read_real(path, shapes=shapes)


def example_of(example: Any) -> tuple[torch.Tensor, ...]:
    """The example as tensors; LAM-TRAIN-002 for anything else."""
    given = tuple(example) if isinstance(example, tuple | list) else (example,)
    for at, x in enumerate(given):
        if not isinstance(x, torch.Tensor):
            raise ExampleBad(f"of type {type(x).__name__}", where=f"input {at}")
        if x.dim() < 2 or not x.shape[0]:
            raise ExampleBad(f"a tensor of shape {list(x.shape)}", where=f"input {at}")
    if not given:
        raise ExampleBad("no input", where="example")
    if len({len(x) for x in given}) > 1:
        raise ExampleBad(f"{[len(x) for x in given]} samples", where="example")
    return tuple(x.detach().cpu() for x in given)


def onnx_of(module: Module, inputs: tuple[torch.Tensor, ...]) -> tuple[list[str], bytes]:
    """The names of a module's inputs, and the ONNX file: in evaluation mode, with an open number of samples.

    Raises:
        ModuleMissing: LAM-TRAIN-003.
        ModuleNotRead: LAM-TRAIN-001.
    """
    if not isinstance(module, nn.Module):
        raise ModuleMissing(f"no torch.nn.Module: it is of type {type(module).__name__}", where="module")
    names = _argument_names(module, len(inputs))
    buffer = io.BytesIO()
    try:
        with _quietly(), torch.no_grad():
            still = _still(module)
            _write(still, inputs, buffer, (names, _result_names(still(*inputs))))
    except Exception as error:
        raise ModuleNotRead(_cause(error), where=type(module).__name__) from error
    return names, buffer.getvalue()


def _still(module: nn.Module) -> nn.Module:
    """A copy for evaluation; an exported program's module is in that mode already, and refuses to be told."""
    try:
        return copy.deepcopy(module).cpu().eval()
    except NotImplementedError:
        return _Wrapped(module)


class _Wrapped(nn.Module):  # type: ignore[misc]
    """A module that another one calls, which nobody tells its mode."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self._call = [module]
        self.training = False

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self._call[0](*inputs)


def _result_names(results: Any) -> list[str] | None:
    """What outputs are called; without a name of ours torch.onnx numbers them."""
    if isinstance(results, torch.Tensor):
        return ["output"]
    plain = isinstance(results, tuple | list) and all(isinstance(y, torch.Tensor) for y in results)
    return [f"output{i}" for i in range(len(results))] if plain else None


def _write(
    module: nn.Module, inputs: tuple[torch.Tensor, ...], buffer: io.BytesIO, names: tuple[list[str], list[str] | None]
) -> None:
    torch.onnx.export(
        module,
        inputs,
        buffer,
        dynamo=False,
        opset_version=_OPSET,
        input_names=names[0],
        output_names=names[1],
        dynamic_axes={name: {0: _SAMPLES} for name in names[0]},
    )


@contextlib.contextmanager
def _quietly() -> Any:
    """Without what torch.onnx tells developers of torch.onnx."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def _argument_names(module: nn.Module, count: int) -> list[str]:
    """As the module's own forward calls them."""
    try:
        names = [
            p.name for p in inspect.signature(module.forward).parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD
        ]
    except (TypeError, ValueError):
        names = []
    return names[:count] if len(names) >= count else ["input"] if count == 1 else [f"input{i}" for i in range(count)]


def _cause(error: Exception) -> str:
    """What went wrong, in a sentence; torch.onnx puts the cause first, or behind a name of its own."""
    said = first_line(error)
    return f"{type(error).__name__}: {said}" if said != type(error).__name__ else said
