"""Structured mutations of TFLite files: any field of any table, by the schema's object interface.

That interface comes with the package `ai-edge-litert`.  A file that its reader cannot follow is damaged as bytes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np

from tests.fuzz.values import Mutation, damaged, integer, real, text

_DEEPEST = 12
_SHORT = 64
_WATCHED = (77, 110, 142, 143, 144)
"""SHAPE, RANK, VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE.  Source: tensorflow/lite/schema/schema.fbs."""
_FLOAT32, _WHOLE = 0, (2, 4)
_ERRORS = (Exception,)
"""What a writer may raise over values that no file can hold: struct.error, TypeError, its own."""


def mutate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One to four changes of the tables; damaged bytes where the file cannot be read or the change not be written."""

    def change(rng: random.Random, model: Any, donor: Any) -> None:
        _change(rng, model, donor if donor is not None and rng.random() < 0.5 else model)

    model = Mutation(rng, _parsed, change, _contradict, 0.25).of(data, others)
    if model is None:
        return damaged(rng, data)
    try:
        builder = flatbuffers.Builder(len(data) + 4096)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())
    except _ERRORS:
        return damaged(rng, data)


def _parsed(data: bytes) -> Any:
    from ai_edge_litert.schema_py_generated import ModelT

    try:
        return ModelT.InitFromPackedBuf(data)
    except _ERRORS:
        return None


def _tables(root: Any, depth: int = 0) -> list[Any]:
    """Every table of the tree, outermost first."""
    found = [root]
    for value in vars(root).values() if depth < _DEEPEST else ():
        for child in value if isinstance(value, list) else [value]:
            if hasattr(child, "__dict__"):
                found += _tables(child, depth + 1)
    return found


def _change(rng: random.Random, model: Any, donor: Any) -> None:
    by_kind: dict[str, list[Any]] = {}
    for table in _tables(model):
        by_kind.setdefault(type(table).__name__, []).append(table)
    table = rng.choice(by_kind[rng.choice(sorted(by_kind))])
    names = sorted(vars(table))
    if not names:
        return
    name = rng.choice(names)
    if rng.random() < 0.2:
        same = [t for t in _tables(donor) if type(t) is type(table)]
        setattr(table, name, vars(rng.choice(same or [table]))[name])
    else:
        setattr(table, name, _value(rng, vars(table)[name]))


def _contradict(rng: random.Random, model: Any) -> None:
    """A tensor whose shape, type or numbers an operator counts on gets others."""
    found = [t for graph in model.subgraphs or () for t in _counted_on(model, graph)]
    if not found:
        return
    tensor = rng.choice(found)
    shape = [1] if tensor.shape is None else [int(n) for n in tensor.shape]
    how = rng.randrange(3)
    if how == 0:
        tensor.type = rng.randrange(20)
    elif how == 1:
        whole = math.prod(shape)
        odd = ([], [whole], [1, whole], [whole, 1], [0], [2**31 - 1] * 4, [*shape, 1], shape[:-1], [2, *shape])
        tensor.shape = rng.choice(odd)
    else:
        _make_real(rng, model, tensor)


def _counted_on(model: Any, graph: Any) -> list[Any]:
    """The tensors of variables, what SHAPE and RANK read and make, and short whole constants."""
    tensors, codes = graph.tensors or [], [code.builtinCode for code in model.operatorCodes or ()]
    places: list[int] = []
    for op in graph.operators or ():
        if 0 <= op.opcodeIndex < len(codes) and codes[op.opcodeIndex] in _WATCHED:
            places += [int(i) for ends in (op.inputs, op.outputs) for i in (() if ends is None else ends)]
    short = [t for t in tensors if t.type in _WHOLE and 0 < _numbers(model, t) <= _SHORT]
    return [tensors[i] for i in places if 0 <= i < len(tensors)] + short


def _numbers(model: Any, tensor: Any) -> int:
    """Bytes of a tensor's numbers."""
    known = 0 <= tensor.buffer < len(model.buffers or ())
    data = model.buffers[tensor.buffer].data if known else None
    return 0 if data is None else len(data)


def _make_real(rng: random.Random, model: Any, tensor: Any) -> None:
    """Odd real numbers instead of whole ones."""
    count = _numbers(model, tensor) // 4
    if count:
        with np.errstate(over="ignore"):
            numbers = np.array([real(rng) for _ in range(count)], np.float32)
        model.buffers[tensor.buffer].data = np.frombuffer(numbers.tobytes(), np.uint8)
        tensor.type = _FLOAT32


def _value(rng: random.Random, old: Any) -> Any:
    """A value of the same kind, or nothing where there may be nothing."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, int | np.integer):
        return integer(rng, int(old))
    if isinstance(old, float):
        return real(rng, old)
    if isinstance(old, bytes):
        return text(rng, old.decode("utf-8", "replace")).encode("utf-8", "replace")
    if isinstance(old, np.ndarray):
        return _array(rng, old)
    if isinstance(old, list):
        return _list(rng, old)
    return None


def _array(rng: random.Random, old: np.ndarray[Any, Any]) -> Any:
    if old.size > _SHORT:
        return np.frombuffer(damaged(rng, old.tobytes())[: old.nbytes // old.itemsize * old.itemsize], np.uint8)
    values = [v.item() for v in old.reshape(-1)]
    changed = _list(rng, values) or []
    if not np.issubdtype(old.dtype, np.integer):
        with np.errstate(over="ignore"):
            return np.array(changed, old.dtype)
    limits = np.iinfo(old.dtype)
    return np.array([min(max(int(v), int(limits.min)), int(limits.max)) for v in changed], old.dtype)


def _list(rng: random.Random, old: list[Any]) -> list[Any] | None:
    """Elements removed, repeated, exchanged or replaced; sometimes no list at all."""
    items = list(old)
    how = rng.randrange(6)
    if not items or how == 0:
        return None if rng.random() < 0.3 else [*items, *items[:1]]
    i, j = rng.randrange(len(items)), rng.randrange(len(items))
    if how == 1:
        del items[i]
    elif how == 2:
        items[i], items[j] = items[j], items[i]
    elif how == 3:
        items.insert(j, items[i])
    elif not hasattr(items[i], "__dict__"):
        items[i] = _value(rng, items[i])
    return items
