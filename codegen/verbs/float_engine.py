"""The original ONNX model on ONNX Runtime, when that is installed; graph optimization off, one thread.

Its optimised integer kernels give different bytes on different processors, so they are used only for a model that does
not run without them, and then `note` says so.  A model whose own nodes multiply integers is optimised so far that their
products do not saturate, as they do on an x86 processor without VNNI: u8 * s8 is summed in pairs of 16 bits there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import (
    DataDoesNotFit,
    DumpUnsupported,
    EngineFailed,
    ModelMissing,
    TypeUnsupported,
    first_line,
)
from codegen.frontends import has_integer_kernels, stored_inputs
from codegen.frontends.shapes import Shapes
from codegen.golden.interface import in_model_type
from codegen.ir.quant import Array, DType, Quant
from codegen.options import ShapePairs
from codegen.records import record
from codegen.settle.borders import output_name
from codegen.verbs.held import Held

_TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(int16)": "int16",
    "tensor(uint16)": "uint16",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
}
RunsModel = Callable[[Mapping[str, Array]], Sequence[Array]]
"""The outputs of a model, in its order."""


@record
class FloatPort:
    """One input of the model; `dtype` and `quant` of the QuantizeLinear that reads it, where one does."""

    name: str
    model_shape: tuple[int, ...]
    model_dtype: str
    dtype: DType | None = None
    quant: Quant | None = None


class FloatEngine(Held):
    """One ONNX Runtime session."""

    def __init__(self, model: Path, shapes: ShapePairs = ()) -> None:
        """Load the model; LAM-API-010 when the runtime refuses it."""
        import onnxruntime as runtime

        if not model.is_file():
            raise ModelMissing("no such file" if not model.exists() else "not a file", where=str(model))
        self._model, self._runtime = model, runtime
        self._session, self._errors = _first_session(runtime, model)
        self.note = ""
        stored = stored_inputs(model)
        inputs = self._session.get_inputs()
        settled = Shapes(
            {i.name: [n if isinstance(n, int) else n or "" for n in i.shape] for i in inputs}, dict(shapes)
        )
        self.inputs = tuple(_port(i, settled.of(i.name), stored) for i in inputs)
        names = {p.name for p in self.inputs}
        self._names = [output_name(o.name, names) for o in self._session.get_outputs()]

    def run(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by the model's names."""
        missing = [p.name for p in self.inputs if p.name not in sample]
        if missing:
            raise DataDoesNotFit(f"no array for input {missing[0]!r}", where=", ".join(sample))
        feeds = {p.name: in_model_type(sample[p.name], p) for p in self.inputs}
        try:
            results = self._session.run(None, feeds)
        except self._errors as error:
            if self.note:
                raise EngineFailed(first_line(error), where="onnxruntime") from error
            self._session, _ = _session(self._runtime, self._model, "all")
            self.note = "graph optimization on: the model does not run without it"
            return self.run(sample)
        return dict(zip(self._names, map(_tensor, self._names, results), strict=True))

    def dump(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """Refused: LAM-API-007."""
        raise DumpUnsupported("gives outputs only", where="engine float")


def _tensor(name: str, result: Any) -> Array:
    """A result; of maps, one for each row, their values, a column for each key; LAM-API-010 for strings."""
    if isinstance(result, list) and all(isinstance(row, dict) for row in result):
        return np.array([list(row.values()) for row in result], np.float32)
    array = np.asarray(result)
    if array.dtype.kind not in "biuf":
        hint = "the other engines give the number of each label"
        raise EngineFailed("the result is no array of numbers", where=f"output '{name}'", hint=hint)
    return array


def has_runtime() -> bool:
    """Whether ONNX Runtime is installed and can be loaded."""
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return False
    return True


def session_of(model: bytes, *, lean: bool = False) -> RunsModel:
    """What runs a model that is not in a file, `lean` without memory of its own between runs.

    Raises:
        EngineFailed: LAM-API-010 when the runtime refuses it, which it does of some models not before they run.
    """
    import onnxruntime as runtime

    session, errors = _session(runtime, model, "off", lean=lean)

    def run(feeds: Mapping[str, Array]) -> Sequence[Array]:
        try:
            made: Sequence[Array] = session.run(None, feeds)
        except errors as error:
            raise EngineFailed(first_line(error), where="onnxruntime") from error
        return made

    return run


def _first_session(runtime: Any, model: Path) -> tuple[Any, tuple[type[Exception], ...]]:
    """What a model is run on; the runtime's rewrite for exact products is not for s8 * s8, which saturate nowhere."""
    if has_integer_kernels(model):
        with contextlib.suppress(EngineFailed):
            return _session(runtime, model, "exact")
    return _session(runtime, model, "off")


_LEVELS = {"off": "ORT_DISABLE_ALL", "exact": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL"}


def _session(
    runtime: Any, model: Path | bytes, level: str, *, lean: bool = False
) -> tuple[Any, tuple[type[Exception], ...]]:
    """A session, and what its runs may raise."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = (kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception))
    errors: tuple[type[Exception], ...] = (*own, RuntimeError, ValueError)
    options = runtime.SessionOptions()
    options.graph_optimization_level = getattr(runtime.GraphOptimizationLevel, _LEVELS[level])
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = options.enable_mem_pattern = not lean
    options.log_severity_level = 4
    try:
        source = model if isinstance(model, bytes) else str(model)
        return runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"]), errors
    except errors as error:
        raise EngineFailed(first_line(error), where="" if isinstance(model, bytes) else str(model)) from error


def _port(value: Any, shape: tuple[int, ...], stored: Mapping[str, tuple[DType, Quant]]) -> FloatPort:
    if value.type not in _TYPES:
        raise TypeUnsupported(f"type {value.type}", where=f"input '{value.name}'")
    return FloatPort(value.name, shape, _TYPES[value.type], *stored.get(value.name, ()))
