"""Structured mutations of TFLite files: any field of any table, by the schema's object interface.

That interface comes with the package `ai-edge-litert`.  A file that its reader cannot follow is damaged as bytes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np

from tests.fuzz.values import damaged, integer, real, text

_DEEPEST = 12
_SHORT = 64
_ERRORS = (Exception,)
"""What a writer may raise over values that no file can hold: struct.error, TypeError, its own."""


def mutate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One to four changes of the tables; damaged bytes where the file cannot be read or the change not be written."""
    model = _parsed(data)
    if model is None:
        return damaged(rng, data)
    donor = _parsed(rng.choice(others)) if others else None
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change(rng, model, donor if donor is not None and rng.random() < 0.5 else model)
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
