"""One node of the model, with checked access to its attributes.

Decides: how an attribute is read, and what is refused when it has another type or value than the operator allows.
Leaves to the importers what the attributes mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onnx import AttributeProto

from codegen.errors import AttributeBad
from codegen.records import record

DEFAULT_DOMAINS = ("", "ai.onnx")
TRAINING_DOMAIN = "ai.onnx.preview.training"
ML_DOMAIN = "ai.onnx.ml"
"""Classical learning."""


def text_of(value: str | bytes) -> str:
    """A protobuf string; bytes that are not UTF-8 are shown with replacement characters."""
    return value if isinstance(value, str) else value.decode("utf-8", errors="replace")


@record(eq=False)
class OnnxNode:
    """One node.  `inputs` holds "" for an optional input left out; `domain` is "" for ONNX's own operators."""

    name: str
    domain: str
    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    proto: Any

    @property
    def where(self) -> str:
        """The node and the tensor it writes, as errors name them."""
        tensor = f", tensor '{self.outputs[0]}'" if self.outputs else ""
        return f"node '{self.name}' ({self.op_type}){tensor}"

    def has(self, name: str) -> bool:
        """Whether the attribute is given."""
        return name in self.attributes

    def integer(self, name: str, default: int | None = None, *, low: int | None = None, high: int | None = None) -> int:
        """An integer attribute within low .. high; LAM-IMPORT-013 otherwise, or when required and missing."""
        attribute = self._find(name, AttributeProto.INT, "an integer", default is None)
        value = int(attribute.i) if attribute is not None else default
        assert value is not None, "required attributes were found"
        if (low is not None and value < low) or (high is not None and value > high):
            raise AttributeBad(f"attribute {name} is {value}, allowed is {_range(low, high)}", where=self.where)
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """An integer attribute that is 0 or 1."""
        return bool(self.integer(name, int(default), low=0, high=1))

    def integers(
        self, name: str, default: Sequence[int] | None = None, *, count: int | None = None, low: int | None = None
    ) -> tuple[int, ...]:
        """A list of integers, `count` of them, each at least `low`."""
        attribute = self._find(name, AttributeProto.INTS, "a list of integers", default is None)
        values = tuple(int(i) for i in attribute.ints) if attribute is not None else tuple(default or ())
        if count is not None and len(values) != count:
            raise AttributeBad(f"attribute {name} has {len(values)} entries, needed are {count}", where=self.where)
        if low is not None and any(v < low for v in values):
            raise AttributeBad(f"attribute {name} is {list(values)}, allowed is {_range(low, None)}", where=self.where)
        return values

    def real(self, name: str, default: float | None = None) -> float:
        """A finite float attribute."""
        attribute = self._find(name, AttributeProto.FLOAT, "a float", default is None)
        value = float(attribute.f) if attribute is not None else default
        assert value is not None, "required attributes were found"
        if not math.isfinite(value):
            raise AttributeBad(f"attribute {name} is {value}", where=self.where)
        return value

    def reals(self, name: str) -> tuple[float, ...]:
        """A required list of floats."""
        return tuple(float(f) for f in self._find(name, AttributeProto.FLOATS, "a list of floats", True).floats)

    def numbers(self, name: str, count: int | None = None) -> tuple[float, ...]:
        """A list of finite floats, `count` of them; empty where it is left out and any count will do."""
        values = self.reals(name) if self.has(name) or count else ()
        if count is not None and len(values) != count:
            raise AttributeBad(f"attribute {name} has {len(values)} entries, needed are {count}", where=self.where)
        if not all(map(math.isfinite, values)):
            raise AttributeBad(f"attribute {name} has entries that are not finite", where=self.where)
        return values

    def tensor(self, name: str) -> Any:
        """A required tensor attribute."""
        return self._find(name, AttributeProto.TENSOR, "a tensor", True).t

    def graph(self, name: str) -> Any:
        """A required graph attribute."""
        return self._find(name, AttributeProto.GRAPH, "a graph", True).g

    def string(self, name: str, default: str, allowed: Sequence[str]) -> str:
        """A string attribute, one of `allowed`."""
        attribute = self._find(name, AttributeProto.STRING, "a string", False)
        value = text_of(attribute.s) if attribute is not None else default
        if value not in allowed:
            raise AttributeBad(f"attribute {name} is '{value}', allowed is one of {list(allowed)}", where=self.where)
        return value

    def _find(self, name: str, kind: int, spoken: str, required: bool) -> Any:
        attribute = self.attributes.get(name)
        if attribute is None:
            if required:
                raise AttributeBad(f"attribute {name} is missing", where=self.where)
            return None
        # IR versions before 2 leave the type out
        if attribute.type not in (kind, AttributeProto.UNDEFINED) or attribute.ref_attr_name:
            raise AttributeBad(f"attribute {name} is not {spoken}", where=self.where)
        return attribute


def _range(low: int | None, high: int | None) -> str:
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} .. {high}"


def read_node(proto: Any, index: int) -> OnnxNode:
    """The node at `index` of the model's list; one without a name is called after its type and index."""
    op_type, domain = text_of(proto.op_type), text_of(proto.domain)
    return OnnxNode(
        name=text_of(proto.name) or f"{op_type}_{index}",
        domain="" if domain in DEFAULT_DOMAINS else domain,
        op_type=op_type,
        inputs=tuple(text_of(i) for i in proto.input),
        outputs=tuple(text_of(o) for o in proto.output),
        attributes={text_of(a.name): a for a in proto.attribute},
        proto=proto,
    )


def names_read(node: OnnxNode) -> Iterator[str]:
    """The tensors that a node reads, those of the bodies inside it as well."""
    yield from node.inputs
    for attribute in node.attributes.values():
        if attribute.HasField("g"):
            yield from (text_of(o.name) for o in attribute.g.output)
            for i, proto in enumerate(attribute.g.node):
                yield from names_read(read_node(proto, i))


def tensors_in(nodes: Iterable[Any], constants: Iterable[Any] = ()) -> Iterator[tuple[str, Any]]:
    """The tensors that a graph's nodes and constants hold, those of the bodies inside as well, each with its place."""
    yield from ((f"constant '{text_of(t.name)}'", t) for t in constants)
    for node in nodes:
        for a in node.attribute:
            if a.HasField("t"):
                yield f"node '{text_of(node.name)}', attribute {text_of(a.name)}", a.t
            if a.HasField("g"):
                yield from tensors_in(a.g.node, a.g.initializer)
