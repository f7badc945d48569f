"""A torch module as a network of real numbers, for any number of samples at once.

Decides: that the shapes follow the number of samples.  torch.onnx writes the module (`writing`), and the file is read
as every file of ONNX is.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from codegen.errors import BatchFixed, CompileError, ExampleBad
from codegen.frontends import read_real
from codegen.ir.real import RealGraph
from codegen.ir.shape import Shape
from codegen.quantizer.rewrite.exact import rewritten
from codegen.train.writing import onnx_of, tensors_of


class Source:
    """The float network of a module, whose shapes follow the number of samples."""

    def __init__(self, module: Any, example: Any) -> None:
        """Read the module; LAM-TRAIN-001 to -003, and -007 where it takes no single sample, as the chip will."""
        self.inputs = example_of(example)
        self.names, self.onnx = onnx_of(module, self.inputs, any_number=True)
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


def example_of(example: Any) -> tuple[Tensor, ...]:
    """The example as tensors with samples along the first axis; LAM-TRAIN-002 for anything else."""
    given = tensors_of(example)
    for at, x in enumerate(given):
        if x.dim() < 2 or not x.shape[0]:
            raise ExampleBad(f"a tensor of shape {list(x.shape)}", where=f"input {at}")
    if len({len(x) for x in given}) > 1:
        raise ExampleBad(f"{[len(x) for x in given]} samples", where="example")
    return given
