"""TFLite models on the runtimes of their makers, when those are installed: TFLite Micro and LiteRT.

Both run their reference kernels: TFLite Micro's are what mode `tflite` reproduces to the bit, LiteRT's differ in places
(docs/tflite.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import DataDoesNotFit, DumpUnsupported, EngineFailed, ExtraMissing, first_line
from codegen.frontends import is_tflite
from codegen.frontends.files import read_model_file
from codegen.frontends.shapes import Shapes
from codegen.golden.interface import in_model_type
from codegen.ir.quant import Array, DType, Quant
from codegen.options import ShapePairs
from codegen.records import record
from codegen.verbs.held import Held

RUNTIMES = ("litert", "tflm")
_ARENAS = (1 << 18, 1 << 21, 1 << 24, 1 << 27)
Invoke = Callable[[Sequence[Array]], list[Array]]


@record
class TflitePort:
    """One input or output of the model."""

    name: str
    model_shape: tuple[int, ...]
    model_dtype: str
    quant: Quant | None = None

    @property
    def dtype(self) -> DType | None:
        """What is stored: the model's own type."""
        return next((d for d in DType if d.numpy == self.model_dtype), None)


class TfliteEngine(Held):
    """One interpreter."""

    note = ""

    def __init__(self, runtime: str, model: Path, shapes: ShapePairs = ()) -> None:
        """Load the model; LAM-API-002 without the package, LAM-API-010 when it refuses the model."""
        self._name = runtime
        from codegen.frontends.tflite import has_uint8_weights, read_ports

        if not is_tflite(model):
            hint = "the engine float runs it"
            raise EngineFailed("no TFLite model", where=f"engine {runtime}, {model}", hint=hint)
        if runtime == "tflm" and has_uint8_weights(model):
            hint = "take litert, whose reference kernels run it"
            raise EngineFailed("TFLite Micro does not run uint8 weights", where=f"engine {runtime}, {model}", hint=hint)
        inputs, outputs = read_ports(model)
        self.inputs = tuple(TflitePort(*p) for p in inputs)
        self._outputs = tuple(TflitePort(*p) for p in outputs)
        Shapes({p.name: p.model_shape for p in self.inputs}, dict(shapes))
        data = read_model_file(model)
        try:
            self._invoke = _tflm(data, len(outputs)) if runtime == "tflm" else _litert(data)
        except (RuntimeError, ValueError) as error:
            raise EngineFailed(first_line(error), where=f"engine {runtime}") from error

    def run(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by the model's names."""
        missing = [p.name for p in self.inputs if p.name not in sample]
        if missing:
            raise DataDoesNotFit(f"no array for input {missing[0]!r}", where=", ".join(sample))
        try:
            results = self._invoke([in_model_type(sample[p.name], p) for p in self.inputs])
        except (RuntimeError, ValueError) as error:
            raise EngineFailed(first_line(error), where=f"engine {self._name}") from error
        return {p.name: r.reshape(p.model_shape) for p, r in zip(self._outputs, results, strict=True)}

    def dump(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """Refused: LAM-API-007."""
        raise DumpUnsupported("gives outputs only", where=f"engine {self._name}")


def _tflm(data: bytes, outputs: int) -> Invoke:
    """TFLite Micro, in the first arena that is large enough."""
    try:
        from tflite_micro.python.tflite_micro import runtime
    except ImportError as error:
        raise ExtraMissing("tflite_micro", "tflm", "the engine tflm runs the original model with it") from error
    interpreter: Any = None
    for arena in _ARENAS:
        try:
            interpreter = runtime.Interpreter.from_bytes(data, arena_size=arena)
            break
        except RuntimeError:
            if arena == _ARENAS[-1]:
                raise

    def invoke(inputs: Sequence[Array]) -> list[Array]:
        for index, x in enumerate(inputs):
            interpreter.set_input(x, index)
        interpreter.invoke()
        return [np.array(interpreter.get_output(index)) for index in range(outputs)]

    return invoke


def _litert(data: bytes) -> Invoke:
    """LiteRT's reference kernels."""
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError as error:
        raise ExtraMissing("ai-edge-litert", "litert", "the engine litert runs the original model with it") from error
    interpreter: Any = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()

    def invoke(inputs: Sequence[Array]) -> list[Array]:
        for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], x)
        interpreter.invoke()
        return [np.array(interpreter.get_tensor(d["index"])) for d in interpreter.get_output_details()]

    return invoke
