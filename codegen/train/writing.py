"""torch.onnx in our words: a module becomes a file of ONNX, or the user is told why it does not.

Decides: which of the two exporters writes (the one that needs no package beyond torch, and names nodes after modules),
that a module is written in evaluation mode and step by step (attention not as the one operator that torch runs in that
mode, which ONNX does not have), and what of the exporter's complaints is told.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn

from codegen.errors import ExampleBad, ModuleMissing, ModuleNotRead, first_line
from codegen.python_files import caught
from codegen.train.decomposed import decomposed

_OPSET = 17
_SAMPLES = "samples"
_MODES = ("train", "eval")


def tensors_of(example: Any) -> tuple[Tensor, ...]:
    """What a module is called with, as tensors; LAM-TRAIN-002 for anything else."""
    given = tuple(example) if isinstance(example, tuple | list) else (example,)
    if not given:
        raise ExampleBad("no input", where="example")
    for at, x in enumerate(given):
        if not isinstance(x, Tensor):
            raise ExampleBad(f"of type {type(x).__name__}", where=f"input {at}")
    return tuple(x.detach().cpu() for x in given)


def onnx_of(module: Any, inputs: Sequence[Tensor], *, any_number: bool = False) -> tuple[list[str], bytes]:
    """The names of a module's inputs, and the ONNX file.

    Args:
        module: in whatever mode; it stays as it is.
        inputs: what it is called with.
        any_number: whether the file takes any number of samples along the first axis, instead of the example's.

    Raises:
        ModuleMissing: LAM-TRAIN-003.
        ModuleNotRead: LAM-TRAIN-001.
    """
    if not isinstance(module, nn.Module):
        raise ModuleMissing(f"no torch.nn.Module: it is of type {type(module).__name__}", where="module")
    names = _argument_names(module, len(inputs))
    open_axes = {name: {0: _SAMPLES} for name in names} if any_number else None
    buffer = io.BytesIO()
    refused = caught(lambda error: ModuleNotRead(_cause(error), where=type(module).__name__))
    with refused, quietly(), _in_steps(), decomposed(), torch.no_grad():
        still = _still(module)
        results = still(*inputs)
        if not _has_tensor(results):
            raise ModuleNotRead(f"it gives no tensor: {results!r:.60}", where=type(module).__name__)
        outputs = _result_names(results)
        words = {"input_names": names, "output_names": outputs, "dynamic_axes": open_axes}
        torch.onnx.export(still, tuple(inputs), buffer, dynamo=False, opset_version=_OPSET, **words)
    return names, buffer.getvalue()


def _still(module: nn.Module) -> nn.Module:
    """A copy for evaluation; that of an exported program has its mode in its operators, and refuses to be told."""
    copied = copy.deepcopy(module).cpu()
    for name in _MODES:
        copied.__dict__.pop(name, None)
    copied.eval()
    return copied if isinstance(copied, torch.jit.ScriptModule) else _without_defaults(copied)


def _without_defaults(module: nn.Module) -> nn.Module:
    """Called with tensors only: torch.onnx takes numbers that are defaults of forward for inputs."""
    forward = module.forward
    module.forward = lambda *tensors, **of_keras: forward(*tensors, **of_keras)
    return module


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without what torch.onnx tells developers of torch.onnx; that a step was frozen is told."""
    with (
        silenced("torch.onnx"),
        _without_graphs(),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", torch.jit.TracerWarning)
        torch.jit.TracerWarning.ignore_lib_warnings()
        warnings.filterwarnings("ignore", category=torch.jit.TracerWarning, module="torch$")
        yield


def _without_graphs() -> contextlib.AbstractContextManager[Any]:
    """Without the graphs that torch.onnx, which switches this log on itself, prints before it raises."""
    return mock.patch.object(torch._C, "_jit_onnx_log", create=True)


@contextlib.contextmanager
def silenced(name: str) -> Iterator[None]:
    """Without what one of torch's loggers prints."""
    log = logging.getLogger(name)
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


@contextlib.contextmanager
def _in_steps() -> Iterator[None]:
    """Attention in torch's usual operators."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def _argument_names(module: nn.Module, count: int) -> list[str]:
    """As the module's own forward calls them."""
    try:
        given = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        given = []
    names = [p.name for p in given if p.kind <= p.POSITIONAL_OR_KEYWORD]
    return names[:count] if len(names) >= count else _numbered("input", count)


def _has_tensor(results: Any) -> bool:
    parts = list(results.values()) if isinstance(results, Mapping) else results
    return isinstance(results, Tensor) or (isinstance(parts, tuple | list) and any(map(_has_tensor, parts)))


def _result_names(results: Any) -> list[str] | None:
    """What outputs are called; in dictionaries and the like torch.onnx numbers them."""
    if isinstance(results, Tensor):
        return ["output"]
    plain = isinstance(results, tuple | list) and all(isinstance(y, Tensor) for y in results)
    return _numbered("output", len(results)) if plain else None


def _numbered(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}{i}" for i in range(count)]


def _cause(error: BaseException) -> str:
    """What went wrong, in a sentence."""
    said = first_line(error)
    return said if said == type(error).__name__ else f"{type(error).__name__}: {said}"
