"""The border of a network: the model's own arrays to the network's tensors and back.

Data enters and leaves in the model's layout and type.  Inside, images are NHWC and quantized; the conversion is
QuantizeLinear's and DequantizeLinear's rule, and a transpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from codegen import fixedpoint
from codegen.errors import FeedNotFinite, FeedShapeWrong, FeedTypeWrong, FeedUnknown
from codegen.ir.graph import Graph, Interface
from codegen.ir.quant import Array, DType, Quant
from codegen.ir.shape import row_count
from codegen.records import record

_HALF_WORD = 1 << 15
_TAKEN: Mapping[str, tuple[str, ...]] = {"int32": ("int64", "uint32"), "uint8": ("bool",)}
"""Types of arrays that are taken for an input of another one, as the network has these types of a model so."""


@record
class PortSpec:
    """One input or output: the model's tensor `name`, and what the network holds instead."""

    name: str
    value: str
    shape: tuple[int, ...]
    dtype: DType
    quant: Quant | None
    model_shape: tuple[int, ...]
    model_dtype: str
    perm: tuple[int, ...] | None

    @staticmethod
    def of(graph: Graph, face: Interface) -> PortSpec:
        """The port of a graph's interface."""
        kind = graph.type(face.value)
        meaning = face.meaning(kind)
        return PortSpec(
            face.name, face.value, kind.shape, kind.dtype, meaning, face.model_shape, face.model_dtype, face.perm
        )

    @staticmethod
    def read(record: Mapping[str, Any]) -> PortSpec:
        """The port of a manifest's record."""
        quant = None if record["scale"] is None else Quant(record["scale"], record["zero_point"])
        return PortSpec(
            name=record["name"],
            value=record["tensor"],
            shape=tuple(record["shape"]),
            dtype=DType(record["dtype"]),
            quant=quant,
            model_shape=tuple(record["model_shape"]),
            model_dtype=record["model_dtype"],
            perm=None if record["perm"] is None else tuple(record["perm"]),
        )

    @property
    def _is_shifted(self) -> bool:
        """Whether the network holds the model's uint16 as int16, 2^15 less."""
        return self.model_dtype == "uint16" and self.dtype is DType.S16

    def to_network(self, array: Array) -> Array:
        """One sample in the model's shape, as the network takes it; LAM-GOLDEN-002 to -004 otherwise."""
        if array.shape != self.model_shape:
            wanted = list(self.model_shape)
            raise FeedShapeWrong(f"has shape {list(array.shape)}, the model has {wanted}", where=self.name)
        array = in_model_type(array, self)
        if self.model_dtype == "float32" and not self.dtype.is_float:
            assert self.quant is not None
            if not np.isfinite(array).all():
                raise FeedNotFinite("holds NaN or infinity", where=self.name)
            low, high = self.dtype.low, self.dtype.high
            wide = fixedpoint.quantize_linear(array, self.quant.scale, self.quant.zero_point, low, high)
            array = wide.astype(self.dtype.numpy)
        if self._is_shifted:
            array = (array.astype(np.int32) - _HALF_WORD).astype(np.int16)
        if self.model_dtype == "bool":
            array = array.astype(self.dtype.numpy)
        return np.asarray(array if self.perm is None else array.transpose(self.perm), order="C")

    def to_model(self, array: Array) -> Array:
        """One result of the network in the model's own shape and type."""
        if self.perm is not None:
            array = array.transpose(np.argsort(self.perm))
        if self.model_dtype == "float32" and not self.dtype.is_float:
            assert self.quant is not None
            array = fixedpoint.dequantize_linear(array, self.quant.scale, self.quant.zero_point)
        if self._is_shifted:
            array = (array.astype(np.int32) + _HALF_WORD).astype(np.uint16)
        return np.asarray(array, order="C").reshape(self.model_shape).astype(self.model_dtype, copy=False)


class Port(Protocol):
    """What data must know of a model's input."""

    @property
    def name(self) -> str:
        """The model's name for it."""
        ...

    @property
    def model_shape(self) -> tuple[int, ...]:
        """The model's shape of one sample."""
        ...

    @property
    def model_dtype(self) -> str:
        """The model's element type, as numpy names it."""
        ...


def in_model_type(array: Array, port: Port) -> Array:
    """The array in the input's element type.

    Real numbers become the nearest ones of it; a network has float32.  Whole numbers of 32 and 64 bits are taken for an
    input of int32, as which the network has both, and truth values for one of uint8.  Everything else has the input's
    type already.

    Raises:
        FeedTypeWrong: LAM-GOLDEN-003, integers for an input of real numbers, other integers than it takes, or whole
            numbers beyond int32.
    """
    if str(array.dtype) == port.model_dtype:
        return array
    if port.model_dtype.startswith("float") and (array.dtype.kind == "f" or array.dtype.name == "bfloat16"):
        with np.errstate(over="ignore"):  # becomes infinity, which is refused where nothing stands for it
            return array.astype(port.model_dtype)
    if str(array.dtype) not in _TAKEN.get(port.model_dtype, ()):
        found = f"is {array.dtype}, the model has {port.model_dtype}"
        raise FeedTypeWrong(found, where=port.name, hint=_ways(array, port))
    made = array.astype(port.model_dtype)
    beyond = array[made != array]
    if beyond.size:
        hint = f"the network holds whole numbers of 64 bits as {port.model_dtype}"
        raise FeedTypeWrong(f"holds {beyond[0]}, which is no {port.model_dtype}", where=port.name, hint=hint)
    return made


def _ways(array: Array, port: Port) -> str | None:
    """How an array would get the input's element type; None where the refusal's own hint says it."""
    if port.model_dtype == "float32":
        return "give real numbers: x.astype(numpy.float32), and first scale * (x - zero_point) where x is quantized"
    if array.dtype.kind in "iu":
        return f"x.astype(numpy.{port.model_dtype}) if it is quantized for this input, else quantize it first"
    return None


def split_batch(ports: Sequence[Port], sample: Mapping[str, Array]) -> list[dict[str, Array]]:
    """The samples of arrays that have more of them along the first axis than the model takes at once.

    A model of shape [1, ...] takes [n, ...], and every model [n, *shape]; all inputs have the same n.  Anything else is
    one sample, as it is.
    """
    counts = {_batch(p, sample[p.name]) for p in ports if p.name in sample}
    count = counts.pop() if len(counts) == 1 else None
    if count is None:
        return [dict(sample)]
    batched = [p for p in ports if p.name in sample]
    return [dict(sample) | {p.name: sample[p.name][i].reshape(p.model_shape) for p in batched} for i in range(count)]


def _batch(port: Port, x: Array) -> int | None:
    """How many samples an array holds; None when it is no batch of them."""
    if x.shape == port.model_shape or not x.ndim or not x.shape[0]:
        return None
    one = port.model_shape[1:] if port.model_shape[:1] == (1,) else port.model_shape
    return x.shape[0] if x.shape[1:] in (one, port.model_shape) else None


def join_batch(results: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """The results of samples as arrays of all: along the first axis where it has size 1, else along a new one."""
    if len(results) == 1:
        return dict(results[0])
    return {name: _joined([result[name] for result in results]) for name in results[0]}


def _joined(arrays: list[Array]) -> Array:
    batched = arrays[0].ndim > 0 and arrays[0].shape[0] == 1
    return np.concatenate(arrays) if batched else np.stack(arrays)


def graph_ports(graph: Graph) -> tuple[tuple[PortSpec, ...], tuple[PortSpec, ...]]:
    """Inputs and outputs of a graph."""
    return tuple(PortSpec.of(graph, i) for i in graph.inputs), tuple(PortSpec.of(graph, o) for o in graph.outputs)


def network_feeds(ports: Sequence[PortSpec], sample: Mapping[str, Array]) -> dict[str, Array]:
    """One sample by the model's input names, as feeds by network tensor; LAM-GOLDEN-001 for a missing name."""
    missing = [p.name for p in ports if p.name not in sample]
    if missing:
        raise FeedUnknown(f"no array for this input; there are {', '.join(sample) or 'none'}", where=missing[0])
    return {p.value: p.to_network(sample[p.name]) for p in ports}


def made_rows(array: Array, made: int) -> Array:
    """The tensor as it is traced: itself, or [rows, elements] of its first rows when not all of them are made."""
    rows = row_count(array.shape)
    return array if made == rows else np.ascontiguousarray(array.reshape(rows, -1)[:made])


def in_model_layout(array: Array, perm: tuple[int, ...] | list[int] | None) -> Array:
    """A tensor stored transposed, as the model has it."""
    return array if perm is None else np.ascontiguousarray(array.transpose(np.argsort(perm)))
