"""From a node of a model's file to an instance of a plug-in's operator.

Decides: which fields are attributes, and that an attribute which nothing reads is refused, for the model means
something by it.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from codegen.errors import PluginNode, PluginWrong
from codegen.plugin.reals import answered
from codegen.plugin.record import Operator
from codegen.records import record

_READERS = {"int": "integer", "bool": "flag", "float": "real", "tuple[int, ...]": "integers"}
"""By the type of a field, the method of a node that reads it."""


@record(eq=False)
class Asked(Mapping[str, Any]):
    """The attributes of a node, and which of them somebody asked for; of one who goes through them all of them."""

    given: Mapping[str, Any]
    names: set[str] = field(default_factory=set)

    def __getitem__(self, name: str) -> Any:
        """An attribute; KeyError for one that the node does not have."""
        self.names.add(name)
        return self.given[name]

    def __iter__(self) -> Iterator[str]:
        """Their names."""
        self.names.update(self.given)
        return iter(self.given)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.given)


def instance(op: Operator, node: Any) -> Any:
    """What a node of a file says, as an instance of the operator.

    Raises:
        PluginWrong: LAM-PLUGIN-005, where `read` gives something else, or a field has a type that nothing reads.
        PluginNode: LAM-PLUGIN-011, for an attribute that is not asked for.
    """
    asked = Asked(getattr(node, "attributes", {}))
    watched = dataclasses.replace(node, attributes=asked) if hasattr(node, "attributes") else node
    read = op.read or _fields_read(op)
    found = answered(lambda: read(watched), op, "read")
    if not isinstance(found, op.kind):
        raise PluginWrong(f"`read` gave {found!r:.60}", where=op.kind.__name__)
    _check_asked(op, node.where, asked)
    return found


def _check_asked(op: Operator, where: str, asked: Asked) -> None:
    names = sorted(asked.names)
    extra = next((name for name in asked.given if name not in asked.names), None)
    if extra is None:
        return
    close = difflib.get_close_matches(extra, names, n=1)
    there = f"; did you mean {close[0]}?" if close else f"; it has {', '.join(names) or 'none'}"
    set_by = extra in {f.name for f in dataclasses.fields(op.kind)} and op.read is None
    why = ", a field that `attributes` of the Operator would have to name" if set_by else there
    raise PluginNode(f"{op.kind.__name__} has no attribute {extra}{why}", where=where)


def _fields_read(op: Operator) -> Callable[[Any], Any]:
    """The reader of an operator whose fields are the attributes."""
    return lambda node: op.kind(**{f.name: _attribute(node, f) for f in attributes_of(op) if _is_read(node, f)})


def attributes_of(op: Operator) -> list[dataclasses.Field[Any]]:
    """The fields that are attributes; where `integers` sets some, those without a default unless they are named."""
    fields = [f for f in dataclasses.fields(op.kind) if f.init]
    if op.attributes is not None or op.integers is not None:
        return [f for f in fields if _is_needed(f) or f.name in (op.attributes or ())]
    return fields


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _is_read(node: Any, field: dataclasses.Field[Any]) -> bool:
    has = getattr(node, "has", None)
    return (has is not None and has(field.name)) or _is_needed(field)


def _attribute(node: Any, field: dataclasses.Field[Any]) -> Any:
    """The attribute that a field is, by its type."""
    kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    if kind not in _READERS or not hasattr(node, _READERS[kind]):
        raise PluginWrong(f"nothing reads the field {field.name}: give the Operator a `read`", where=node.where)
    return getattr(node, _READERS[kind])(field.name)
