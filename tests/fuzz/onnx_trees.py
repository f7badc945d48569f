"""Structured mutations of ONNX files: any field of any message, and messages of one model put into another.

Nothing here knows what a field means, so that nothing is left out: the message tree is walked by its descriptors.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from tests.fuzz.values import Mutation, damaged, integer, real, text

_MESSAGE = FieldDescriptor.CPPTYPE_MESSAGE
_REALS = (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)
_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_LONG = 4096
_DEEPEST = 40
_SHORT = 128
_TYPES = ("bool", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint64")
_ERRORS = (Exception,)
"""What onnx and numpy may raise over a tensor that contradicts itself."""


def mutate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One to four changes of the message tree; damaged bytes where the file is no protobuf."""
    model = Mutation(rng, _parsed, _change, _contradict, 0.2).of(data, others)
    if model is None:
        return damaged(rng, data)
    return bytes(model.SerializeToString(deterministic=True))


def _parsed(data: bytes) -> Any:
    try:
        return onnx.ModelProto.FromString(data)
    except DecodeError:
        return None


def _messages(root: Message, depth: int = 0) -> list[Message]:
    """Every message of the tree, outermost first."""
    found = [root]
    for field, value in root.ListFields() if depth < _DEEPEST else ():
        if field.cpp_type == _MESSAGE:
            children = list(value) if _repeated(field) else [value]
            found += [m for child in children for m in _messages(child, depth + 1)]
    return found


def _pick(rng: random.Random, root: Message) -> Message:
    """A message of the tree; kinds of message are equally likely, however many there are of each."""
    by_kind: dict[str, list[Message]] = {}
    for message in _messages(root):
        by_kind.setdefault(message.DESCRIPTOR.name, []).append(message)
    return rng.choice(by_kind[rng.choice(sorted(by_kind))])


def _change(rng: random.Random, model: Message, donor: Message | None) -> None:
    message = _pick(rng, model)
    if rng.random() < 0.2:
        _graft(rng, message, donor if donor is not None and rng.random() < 0.5 else model)
        return
    present = [field for field, _ in message.ListFields()]
    field = rng.choice(present if present and rng.random() < 0.8 else message.DESCRIPTOR.fields)
    if _repeated(field):
        _change_list(rng, message, field)
    elif rng.random() < 0.15:
        message.ClearField(field.name)
    elif field.cpp_type == _MESSAGE:
        getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, _value(rng, field, getattr(message, field.name)))


def _contradict(rng: random.Random, model: Message) -> None:
    """A constant gets other axes or another type, sometimes odd real numbers; sizes as likely as weights."""
    found = [m for m in _messages(model) if m.DESCRIPTOR.name == "TensorProto"]
    short = [m for m in found if m.ByteSize() <= _SHORT]
    if not found:
        return
    tensor: Any = rng.choice(short if short and rng.random() < 0.5 else found)
    try:
        changed = _contradicted(rng, onnx.numpy_helper.to_array(tensor))
        tensor.CopyFrom(onnx.numpy_helper.from_array(changed, tensor.name))
    except _ERRORS:
        return


def _contradicted(rng: random.Random, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    how = rng.randrange(5)
    if how == 0:
        return array.reshape(-1)[0].reshape(())
    if how == 1:
        return array.reshape(rng.choice(((1, -1), (-1, 1), (-1,), (*array.shape, 1), (1, *array.shape))))
    if how == 2:
        return array.reshape(-1)[: rng.randrange(3)]
    with np.errstate(all="ignore"):
        if how == 3:
            return array.astype(rng.choice(_TYPES))
        numbers = array.astype(np.float32)
        if numbers.size:
            numbers.flat[rng.randrange(numbers.size)] = real(rng)
        return numbers


def _graft(rng: random.Random, message: Message, source: Message) -> None:
    """The content of a message of the same kind, of this model or another one."""
    same = [m for m in _messages(source) if m.DESCRIPTOR is message.DESCRIPTOR and m is not message]
    if same and message.DESCRIPTOR.name not in ("ModelProto", "GraphProto"):
        copy = type(message)()
        copy.CopyFrom(rng.choice(same))
        message.CopyFrom(copy)


def _change_list(rng: random.Random, message: Message, field: FieldDescriptor) -> None:
    items = getattr(message, field.name)
    how = rng.randrange(5)
    if not len(items) or how == 0:
        if field.cpp_type == _MESSAGE:
            items.add()
        else:
            items.append(_value(rng, field, items[0] if len(items) else None))
        return
    i, j = rng.randrange(len(items)), rng.randrange(len(items))
    if how == 1:
        del items[i]
    elif field.cpp_type == _MESSAGE:
        _change_messages(items, how, i, j)
    elif how == 2:
        items[i], items[j] = items[j], items[i]
    else:
        items[i] = _value(rng, field, items[i])


def _change_messages(items: Any, how: int, i: int, j: int) -> None:
    """One overwritten by another, two exchanged, or one put in a second time."""
    one, other = type(items[i])(), type(items[i])()
    one.CopyFrom(items[i])
    other.CopyFrom(items[j])
    items[i].CopyFrom(other)
    if how == 2:
        items[j].CopyFrom(one)
    elif how == 3:
        items.add().CopyFrom(one)


def _value(rng: random.Random, field: FieldDescriptor, old: Any) -> Any:
    if field.cpp_type in _REALS:
        value = real(rng, old or 1.0)
        return max(min(value, 3.4e38), -3.4e38) if abs(value) < float("inf") else value
    if field.cpp_type in _RANGES:
        low, high = _RANGES[field.cpp_type]
        return min(max(integer(rng, int(old or 0)), low), high)
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return rng.choice(field.enum_type.values).number
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return not old
    if field.type == FieldDescriptor.TYPE_BYTES:
        return damaged(rng, old or b"")
    return text(rng, (old or "")[:_LONG])


def _repeated(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == FieldDescriptor.LABEL_REPEATED
