"""Dynamic quantization as it is meant: products of real numbers with weights of 8 bits.

What `onnxruntime.quantization.quantize_dynamic` writes rounds each input of a product in every run
(DynamicQuantizeLinear), multiplies integers (ConvInteger, MatMulInteger), and takes the scales back (Cast, Mul).  The
rounding is for the runtime's speed, and not the network's: what is read in its place is the product of the input as
it is and of the real numbers that the integers of the weights stand for.

Decides: which nodes are such a product, and that those whose results are then read by nobody are left out.
Where integers of a DynamicQuantizeLinear are read otherwise everything stays.
Source: onnx/docs/Operators.md, onnxruntime/docs/ContribOperators.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from onnx import TensorProto

from codegen.frontends.onnx.nodes import OnnxNode, names_read
from codegen.frontends.onnx.structure import Structure
from codegen.records import record

_DYNAMIC, _MICROSOFT = "DynamicQuantizeLinear", "com.microsoft"
_PRODUCTS = ("ConvInteger", "MatMulInteger")
_Replaced = tuple[str, tuple[OnnxNode, tuple[str, ...]]]
"""The name of a node, and what stands in its place, with the scales of its weights."""
_PARTS = ("Cast", "Mul", *_PRODUCTS, _DYNAMIC)
"""What is left out where nobody reads it any more."""


@record(eq=False)
class Dynamic:
    """A model's nodes as they are read.

    `scales` are the scales of weights of the products of real numbers that are written as integers, by the result;
    such a node has real numbers where ONNX wants integers, and no zero point for them.
    """

    nodes: tuple[OnnxNode, ...]
    scales: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]

    def names_read(self, node: OnnxNode) -> Iterator[str]:
        """The tensors that a node reads, the scales of its weights as well."""
        yield from names_read(node)
        yield from self.scales.get(next(filter(None, node.outputs), ""), ())

    def live(self, outputs: Sequence[str]) -> Dynamic:
        """The same without the parts of roundings whose results nobody reads."""
        read, kept = set(outputs), []
        for node in reversed(self.nodes):
            if node.op_type not in _PARTS or not read.isdisjoint(node.outputs):
                kept.append(node)
                read.update(self.names_read(node))
        return replace(self, nodes=tuple(reversed(kept)))


def without_rounding(structure: Structure) -> Dynamic:
    """The nodes of a model, with products of real numbers in place of dynamically quantized ones."""
    if not any(node.op_type == _DYNAMIC for node in structure.nodes):
        return Dynamic(structure.nodes, {}, ())
    found = _Products(structure)
    made = dict(found.all())
    if not made:
        return Dynamic(structure.nodes, {}, ())
    scales = {node.outputs[0]: names for node, names in made.values() if node.op_type in _PRODUCTS}
    nodes = [made[node.name][0] if node.name in made else node for node in structure.nodes]
    count = f"{len(made)} products with weights of 8 bits"
    note = f"dynamic quantization: {count} take their inputs as they are, which a runtime rounds to 8 bits in each run"
    return Dynamic(tuple(nodes), scales, (note,)).live(structure.outputs)


class _Products:
    """The dynamically quantized products of a model."""

    def __init__(self, structure: Structure) -> None:
        self._nodes = structure.nodes
        self._writers = {name: node for node in structure.nodes for name in node.outputs if name}
        self._known = _constants(structure)
        self._readers: dict[str, list[OnnxNode]] = {}
        self._wanted = frozenset(structure.outputs)
        for node in structure.nodes:
            for name in names_read(node):
                self._readers.setdefault(name, []).append(node)

    def all(self) -> Iterator[_Replaced]:
        """All that are replaced."""
        for node in self._nodes:
            if not node.domain and node.op_type in _PRODUCTS:
                found = self._integers(node)
                if found is not None:
                    yield found
            elif (node.domain, node.op_type) == (_MICROSOFT, "MatMulIntegerToFloat"):
                yield from self._to_float(node)

    def _to_float(self, node: OnnxNode) -> Iterator[_Replaced]:
        """A product that takes the scales back itself: the operator that rounds its input itself."""
        left, right, left_scale, right_scale, left_zero, *rest = (*node.inputs, *[""] * 7)[:7]
        source = self._rounded(left, left_zero)
        fits = source is not None and source.outputs[1] == left_scale and len(node.inputs) <= 7
        if source is not None and fits and right in self._known:
            given = (source.inputs[0], right, right_scale, *rest)
            yield node.name, (replace(node, op_type="DynamicQuantizeMatMul", inputs=given), ())

    def _integers(self, product: OnnxNode) -> _Replaced | None:
        """The product that stands in the place of the last Mul behind one of integers; None where it is no such one."""
        names = (*product.inputs, "", "")[:4]
        left, right = self._rounded(names[0], names[2]), self._rounded(names[1], names[3])
        fits = len(product.inputs) <= len(names) and (right or {names[1], names[3]} <= self._known | {""})
        if left is None or not fits:
            return None
        cast = self._only_reader(product.outputs[0])
        if cast is None or not _is_to_float(cast):
            return None
        last, scales = self._scaled(cast, [side.outputs[1] for side in (left, right) if side])
        if last is None:
            return None
        sides = [side.inputs[0] if side else name for side, name in ((left, names[0]), (right, names[1]))]
        inputs = (*sides, "", "" if right else names[3])
        return last.name, (replace(product, inputs=inputs, outputs=last.outputs), scales)

    def _scaled(self, cast: OnnxNode, wanted: list[str]) -> tuple[OnnxNode | None, tuple[str, ...]]:
        """The Mul behind which all wanted scales are multiplied to the sums, and the constants beside them."""
        node: OnnxNode | None = cast
        scales: list[str] = []
        while wanted and node is not None:
            name = node.outputs[0]
            node = self._only_reader(name)
            others = [i for i in node.inputs if i != name] if node is not None and _is_mul(node) else []
            if len(others) != 1:
                return None, ()
            for factor in self._factors(others[0]):
                if factor in wanted:
                    wanted.remove(factor)
                elif factor in self._known:
                    scales.append(factor)
                else:
                    return None, ()
        return node, tuple(scales)

    def _factors(self, name: str) -> Iterator[str]:
        """What a factor is the product of: a constant, a scale, or a computed product of these."""
        writer = self._writers.get(name)
        if writer is None or name in self._known or not _is_mul(writer):
            yield name
        else:
            yield from writer.inputs

    def _rounded(self, name: str, zero: str) -> OnnxNode | None:
        """The DynamicQuantizeLinear whose integers and zero point these are, of numbers that are not constant."""
        writer = self._writers.get(name)
        if writer is None or writer.domain or writer.op_type != _DYNAMIC:
            return None
        whole = len(writer.inputs) == 1 and len(writer.outputs) == 3 and writer.inputs[0] not in self._known
        return writer if whole and (writer.outputs[0], writer.outputs[2]) == (name, zero) else None

    def _only_reader(self, name: str) -> OnnxNode | None:
        readers = self._readers.get(name, [])
        return readers[0] if len(readers) == 1 and name not in self._wanted else None


def _is_mul(node: OnnxNode) -> bool:
    return not node.domain and node.op_type == "Mul"


def _is_to_float(node: OnnxNode) -> bool:
    to = node.attributes.get("to")
    return not node.domain and node.op_type == "Cast" and to is not None and to.i == TensorProto.FLOAT


def _constants(structure: Structure) -> frozenset[str]:
    """Tensors that do not hang on the network's inputs."""
    known = set(structure.initializers)
    for node in structure.nodes:
        if known.issuperset(filter(None, names_read(node))):
            known.update(node.outputs)
    return frozenset(known - {""})
