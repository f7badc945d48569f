"""Reads as much of a TFLite model as can be read, for `inspect`: behind a refused operator, and of a float model.

Decides: that reading goes on behind a refused operator, for the file says what every tensor is, and that a float model
is read as the converter would quantize it, with made-up ranges.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from codegen.errors import BiasOutOfRange, CompileError, ScaleBad
from codegen.frontends.survey import SHARE, SIGNED_SHARE, STEP, SourceNode, Survey
from codegen.frontends.tflite.importer import is_float_model
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Model, Subgraph, Tensor, read_model
from codegen.frontends.tflite.real.importer import RealReader
from codegen.frontends.tflite.records import real_type, stored_of
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.quant import Array, Mode, Quant
from codegen.ir.real import RealValue
from codegen.settle.surveying import surveyed

_WEIGHTS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 0}
"""Operators with weights, and the axis along which their scale varies."""
_BIASED = {
    "CONV_2D": (0, 1, 2),
    "DEPTHWISE_CONV_2D": (0, 1, 2),
    "FULLY_CONNECTED": (0, 1, 2),
    "TRANSPOSE_CONV": (2, 1, 3),
}
"""Their input, weights and bias."""
_RANGES = {"SOFTMAX": SHARE, "LOGISTIC": SHARE, "TANH": SIGNED_SHARE}
_MOVERS = ("RESHAPE", "CONCATENATION", "PAD", "TRANSPOSE", "SQUEEZE", "EXPAND_DIMS", "SPLIT", "SLICE", "PACK")
_LARGEST = float(np.finfo(np.float32).max)
_SAME_SCALE = {
    *_MOVERS,
    *(
        "STRIDED_SLICE",
        "MAX_POOL_2D",
        "AVERAGE_POOL_2D",
        "RESIZE_BILINEAR",
        "RESIZE_NEAREST_NEIGHBOR",
        "RELU",
        "MAXIMUM",
        "MINIMUM",
    ),
}
"""Operators of which the converter gives the output the input's scale."""


def survey_tflite(path: Path, *, mode: Mode, known: Vocabulary = HOUSE) -> Survey:
    """Every problem of the model, and what can be read of it; raises what `read_model` raises."""
    model = read_model(path)
    floats = is_float_model(model.subgraphs[0])
    if floats:
        model = replace(model, subgraphs=(_quantized(model.subgraphs[0]), *model.subgraphs[1:]))
    with np.errstate(all="ignore"):
        reader = _Reader(model, known)
        graph, rules = reader.graph(), known.tflite_rules
        walk = surveyed(graph, mode, reader.unread, rules)
    made_up = (ScaleBad, BiasOutOfRange) if floats else ()
    found = [e for e in walk.with_those_of(reader.problems) if not isinstance(e, made_up)]
    told = {id(error) for error in found}
    refused = {**walk.refused, **{name: e.code for name, e in reader.refused.items() if id(e) in told}}
    nodes = tuple(SourceNode(n.name, n.op_type, refused.get(n.name, "")) for n in model.subgraphs[0].nodes)
    return Survey(walk.partial(), tuple(found), floats, tuple(walk.inputs), nodes)


class _Reader(RealReader):
    """A reader that goes on behind a refused operator, of which the file says what it writes.

    `unread` are the values of those results; `refused` the operators with their problems.
    """

    def __init__(self, model: Model, known: Vocabulary) -> None:
        super().__init__(model, known, whole=True)
        self.unread: set[str] = set()
        self.refused: dict[str, CompileError] = {}

    def _import(self, node: TfliteNode) -> None:
        before = len(self.problems)
        super()._import(node)
        if len(self.problems) > before:
            self.refused[node.name] = self.problems[before].error
            for place in node.outputs:
                self._assume(place)

    def _assume(self, place: int) -> None:
        """Take a tensor that a refused operator was to write as given; it stays unread where that cannot be."""
        if place < 0 or place not in self._poison:
            return
        tensor, built = self._graph.tensors[place], self._ctx.builder
        if tensor.problem is not None:
            return
        try:
            value = RealValue(
                built.free_name(tensor.name), real_type(tensor, tensor.where), stored=stored_of(tensor, "")
            )
        except CompileError:
            return
        built.values[value.name] = value
        self._ctx.values[place] = value.name
        self._poison.discard(place)
        self.unread.add(value.name)


def _quantized(graph: Subgraph) -> Subgraph:
    """The graph with every float tensor int8, weights per channel and biases int32, as the converter writes it."""
    tensors = list(graph.tensors)
    for node in graph.nodes:
        _quantize_node(node, tensors)
    return replace(graph, tensors=tuple(_as_int8(t, STEP) if _is_open(t) else t for t in tensors))


def _quantize_node(node: TfliteNode, tensors: list[Tensor]) -> None:
    """Settle the inputs of one operator, then what it writes."""
    x, w, b = _BIASED.get(node.op_type, (-1, -1, -1))
    for index, place in enumerate(node.inputs):
        if place >= 0 and index != b and _is_open(tensors[place]):
            axis = _WEIGHTS[node.op_type] if index == w else -1
            tensors[place] = _constant(tensors[place], axis)
    places = [node.inputs[i] if 0 <= i < len(node.inputs) else -1 for i in (x, w, b)]
    known = min(places) >= 0 and all(tensors[i].scale.size for i in places[:2])  # whole numbers have no scale
    if known and _is_open(tensors[places[2]]):
        tensors[places[2]] = _bias(*(tensors[i] for i in places))
    first = next((tensors[i] for i in node.inputs if i >= 0 and tensors[i].scale.size == 1), None)
    kept = first is not None and node.op_type in _SAME_SCALE
    quant = Quant(float(first.scale[0]), int(first.zero_point[0])) if first and kept else STEP
    for place in node.outputs:
        if place >= 0 and _is_open(tensors[place]):
            tensors[place] = _as_int8(tensors[place], _RANGES.get(node.op_type, quant))


def _is_open(tensor: Tensor) -> bool:
    return tensor.kind == "float32" and not tensor.scale.size


def _as_int8(tensor: Tensor, quant: Quant) -> Tensor:
    if tensor.data is not None:
        return _constant(tensor, -1)
    return _with(tensor, "int8", np.array([quant.scale], np.float32), np.array([quant.zero_point]))


def _constant(tensor: Tensor, axis: int) -> Tensor:
    """A constant as int8, symmetric, with one scale per slice of `axis`; a computed tensor of unknown range."""
    if tensor.data is None:
        return _as_int8(tensor, STEP)
    with np.errstate(invalid="ignore"):  # a signalling NaN is one more that is none of the numbers
        array = np.nan_to_num(tensor.data.astype(np.float64), posinf=_LARGEST, neginf=-_LARGEST)
    axes = tuple(i for i in range(array.ndim) if i != axis) if 0 <= axis < array.ndim else None
    largest = np.abs(array).max(axis=axes, keepdims=True) if array.size else np.ones((1,) * array.ndim)
    scale = np.maximum(largest / 127, 1e-6).astype(np.float32)
    data = np.clip(np.rint(array / scale), -127, 127).astype(np.int8)
    return replace(_with(tensor, "int8", scale.reshape(-1), np.zeros(scale.size, np.int64), max(axis, 0)), data=data)


def _bias(x: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    """A bias as int32 at the product's scale."""
    scale = (x.scale * weights.scale).astype(np.float32)
    found = _with(bias, "int32", scale, np.zeros(scale.size, np.int64))
    if bias.data is None or scale.size not in (1, bias.data.size):
        return found
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.nan_to_num(bias.data.astype(np.float64) / scale)
    return replace(found, data=np.clip(np.rint(steps), -(2**30), 2**30).astype(np.int32))


def _with(tensor: Tensor, kind: str, scale: Array, zero: Array, axis: int = 0) -> Tensor:
    return replace(tensor, kind=kind, scale=np.asarray(scale), zero_point=np.asarray(zero), axis=axis)
