"""Reads as much of an ONNX model as can be read, for `inspect`: behind a refused node, and of a float model.

Decides: that reading goes on where the model itself says what a tensor is (its shape, which ONNX infers, and the scale
of the QuantizeLinear behind it), and that a float model is read as it would be quantized, with made-up ranges.  A
tensor of which neither is known stays unread, so that no node is blamed for another one's fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from codegen.errors import BiasOutOfRange, CompileError, ModelNotQuantized, ScaleBad
from codegen.frontends.onnx.borders import Borders
from codegen.frontends.onnx.importer import Walk
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.frontends.onnx.quantize import quantize_state
from codegen.frontends.onnx.reader import Model, read_model
from codegen.frontends.onnx.states import POISON, Const, Float, Int, IntConst, Pending, Poison, Real, State
from codegen.frontends.shapes import Given
from codegen.frontends.shapes import Shapes as OfInputs
from codegen.frontends.survey import SHARE, SIGNED_SHARE, STEP, SourceNode, Survey, partial_graph
from codegen.ir.graph import Interface
from codegen.ir.quant import DType, Mode, Quant, TensorType

Shapes = Mapping[str, tuple[tuple[int, ...], int]]
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_INTEGERS = {TensorProto.INT8: DType.S8, TensorProto.UINT8: DType.U8, TensorProto.INT16: DType.S16}
_WEIGHTS: Mapping[str, int] = {"Conv": 0, "ConvTranspose": 1, "Gemm": -1, "MatMul": -1, "PRelu": -1}
"""Operators whose constants a quantizer makes integers, and the axis along which their scale varies; -1 for none."""
_BOTH_SIDES = ("Add", "Sub", "Mul", "Concat")
_FOLDED = ("Relu", "Clip", "BatchNormalization")
"""What a quantizer leaves unquantized behind a product, for it becomes part of it."""
_RANGES = dict.fromkeys(("Softmax", "Sigmoid", "HardSigmoid"), SHARE) | {"Tanh": SIGNED_SHARE}


def survey_onnx(path: Path, *, mode: Mode, shapes: Given | None = None) -> Survey:
    """Every problem of the model, and what can be read of it; raises what `import_onnx` raises of files and shapes."""
    model = read_model(path)
    with np.errstate(all="ignore"):
        walk = _Surveyor(model, mode, shapes) if model.quantized else _Rehearsal(model, mode, shapes, str(path))
        return walk.survey()


class _Surveyor(Walk):
    """A walk that goes on behind a refused node where a QuantizeLinear says what its result is."""

    def __init__(self, model: Model, mode: Mode, shapes: Given | None) -> None:
        super().__init__(model, mode, Borders(), shapes)
        self._shapes = _inferred(model.proto, self._faces)
        self._given: list[Interface] = []
        self._refused: dict[str, str] = {}

    def survey(self) -> Survey:
        """The whole walk."""
        inputs = self._inputs()
        self._initializers()
        for node in self._model.structure.nodes:
            states = self._import(node)
            self._ctx.states.update((name, s) for name, s in zip(node.outputs, states, strict=False) if name)
        outputs = self._outputs(inputs)
        faces = [*inputs, *self._given]
        graph = partial_graph(self._ctx.builder, self._model.name, faces, outputs, self._ctx.notes)
        nodes = (SourceNode(n.name, n.op_type, self._refused.get(n.name, "")) for n in self._model.structure.nodes)
        return Survey(graph, tuple(self._problems), not self._model.quantized, tuple(inputs), tuple(nodes))

    def _import(self, node: OnnxNode) -> Sequence[State]:
        if node.op_type == "QuantizeLinear" and isinstance(self._state(node.inputs[:1]), Poison):
            self._ctx.states[node.inputs[0]] = self._assumed(node.inputs[0])
        before = len(self._problems)
        states = super()._import(node)
        if len(self._problems) == before:  # passed over, or read
            return states
        self._refused[node.name] = self._problems[before].code
        return [self._behind(node, name) for name in node.outputs]

    def _state(self, names: Sequence[str]) -> State:
        return self._ctx.states.get(names[0], POISON) if names else POISON

    def _behind(self, node: OnnxNode, name: str) -> State:
        """The result of a refused node: integers, whose readers say what they mean, or nothing that is known yet."""
        shape, element = self._shapes.get(name, ((), TensorProto.UNDEFINED))
        if not node.op_type.startswith("QLinear") or element not in _INTEGERS:
            return POISON
        value = self._phantom(name, shape, _INTEGERS[element])
        return POISON if value is None else Int(value)

    def _assumed(self, name: str) -> State:
        """A float tensor that a refused node was to make, as if the network got it as an input."""
        shape, element = self._shapes.get(name, ((), TensorProto.UNDEFINED))
        value = self._phantom(name, shape, DType.F32) if element in _FLOATS else None
        return POISON if value is None else Float(value)

    def _phantom(self, name: str, shape: tuple[int, ...], dtype: DType, quant: Quant | None = None) -> str | None:
        try:
            value = self._ctx.builder.input(f"{name}:unread", TensorType(shape, dtype, quant))
        except CompileError:
            return None
        self._given.append(Interface(value, name, shape, dtype.numpy.name))
        return value


class _Rehearsal(_Surveyor):
    """A walk over a float model as a quantizer would leave it: int8, per channel, ranges made up."""

    def __init__(self, model: Model, mode: Mode, shapes: Given | None, where: str) -> None:
        super().__init__(model, mode, shapes)
        self._problems.insert(0, ModelNotQuantized("a float model: none of its nodes quantizes anything", where=where))
        self._readers: dict[str, list[OnnxNode]] = {}
        for node in model.structure.nodes:
            for name in node.inputs:
                self._readers.setdefault(name, []).append(node)

    def _inputs(self) -> list[Interface]:
        inputs = super()._inputs()
        for face in inputs:
            state = self._ctx.states[face.name]
            if isinstance(state, Float):
                readers = self._readers.get(face.name)
                self._ctx.states[face.name] = self._quantized(readers[0], face.name, state) if readers else POISON
        return inputs

    def _refuse(self, error: CompileError, where: str) -> None:
        if not isinstance(error, ScaleBad | BiasOutOfRange):  # the ranges are made up
            super()._refuse(error, where)

    def _import(self, node: OnnxNode) -> Sequence[State]:
        self._quantize_constants(node)
        states = super()._import(node)
        return [self._settled(node, name, state) for name, state in zip(node.outputs, states, strict=False)]

    def _settled(self, node: OnnxNode, name: str, state: State) -> State:
        """A result as a quantizer leaves it: quantized, unless the next node becomes part of its maker."""
        readers = self._readers.get(name, [])
        folded = len(readers) == 1 and (readers[0].op_type in _FOLDED or self._is_bias(node, readers[0]))
        if isinstance(state, Pending) and folded and name not in self._model.structure.outputs:
            return state
        open_ended = isinstance(state, Pending) or (isinstance(state, Real) and state.function is not None)
        return self._quantized(node, name, state) if open_ended else state

    def _is_bias(self, node: OnnxNode, reader: OnnxNode) -> bool:
        """Whether the reader adds a constant to a matrix product."""
        known = any(isinstance(self._ctx.states.get(i), Const | IntConst) for i in reader.inputs)
        return node.op_type == "MatMul" and reader.op_type == "Add" and known

    def _quantized(self, node: OnnxNode, name: str, state: State) -> State:
        quant = _RANGES.get(node.op_type, STEP) if isinstance(state, Pending | Real) else STEP
        try:
            value = quantize_state(self._ctx, node, state, quant, DType.S8, name, f"{name}:int8")
            return Real(value, quant)
        except CompileError as error:
            before = len(self._problems)
            self._refuse(error, node.where)
            if len(self._problems) > before:
                self._refused[node.name] = error.code
            return self._behind(node, name)

    def _behind(self, node: OnnxNode, name: str) -> State:
        shape, element = self._shapes.get(name, ((), TensorProto.UNDEFINED))
        quant = _RANGES.get(node.op_type, STEP)
        value = self._phantom(name, shape, DType.S8, quant) if element in _FLOATS else None
        return POISON if value is None else Real(value, quant)

    def _quantize_constants(self, node: OnnxNode) -> None:
        if any(isinstance(self._ctx.states.get(name), Pending) for name in node.inputs):
            return  # it becomes part of a product that waits for its scale: its constant is a bias or a factor
        places = (0, 1) if node.op_type in ("Gemm", "MatMul") else (1,) if node.op_type in _WEIGHTS else ()
        for place in range(len(node.inputs)) if node.op_type in _BOTH_SIDES else places:
            state = self._state(node.inputs[place : place + 1])
            if isinstance(state, Const) and state.array.dtype.kind == "f" and state.array.size > 1:
                self._ctx.states[node.inputs[place]] = _as_int8(state, _WEIGHTS.get(node.op_type, -1))


def _as_int8(constant: Const, axis: int) -> IntConst:
    """The constant as a quantizer stores it: symmetric, with one scale per slice of `axis`."""
    array = constant.array.astype(np.float64)
    others = tuple(i for i in range(array.ndim) if i != axis) if 0 <= axis < array.ndim else None
    largest = np.nan_to_num(np.abs(array).max(axis=others, keepdims=True), nan=1.0, posinf=1.0)
    scale = np.maximum(largest / 127, 1e-6).astype(np.float32)
    ints = np.clip(np.rint(np.nan_to_num(array) / scale), -127, 127).astype(np.int8)
    full = np.broadcast_to(scale, array.shape)
    return IntConst(ints, full, np.broadcast_to(np.int64(0), array.shape))


def _inferred(proto: Any, faces: OfInputs) -> Shapes:
    """Shape and element type of each tensor of which ONNX knows both; the inputs get the shapes that they have here."""
    for info in proto.graph.input:
        shape = faces.known(text_of(info.name)) or ()
        for dim, size in zip(info.type.tensor_type.shape.dim, shape, strict=False):
            dim.dim_value = size
    try:
        graph = onnx.shape_inference.infer_shapes(proto).graph
    except (RuntimeError, ValueError, onnx.shape_inference.InferenceError):
        graph = proto.graph
    found: dict[str, tuple[tuple[int, ...], int]] = {}
    for info in (*graph.value_info, *graph.output):
        kind = info.type.tensor_type
        dims = tuple(int(d.dim_value) for d in kind.shape.dim)
        if kind.HasField("shape") and all(d > 0 for d in dims):
            found[text_of(info.name)] = (dims, kind.elem_type)
    return found
