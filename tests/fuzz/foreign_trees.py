"""Structured mutations of the quantizer's foreign files: values of JSON documents, words of tables."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from tests.fuzz.values import damaged, integer, real, text

_ODD: tuple[Any, ...] = (None, True, False, [], {}, "", [[]], [{}], {"": 1}, -1, 0, 1e39, 1 << 70, "float", 8, [1, "a"])


def mutate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One to three values, keys or words changed; now and then damaged bytes."""
    if rng.random() < 0.1:
        return damaged(rng, data)
    try:
        document = json.loads(data)
    except ValueError:
        return _words(rng, data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        _change(rng, document)
    return json.dumps(document).encode("utf-8", "replace")


def _change(rng: random.Random, tree: Any) -> None:
    """A value somewhere in a tree: replaced, taken out, or under another key."""
    if not isinstance(tree, dict | list) or not tree:
        return
    place: Any = rng.choice(list(tree)) if isinstance(tree, dict) else rng.randrange(len(tree))
    inner = tree[place]
    if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
        _change(rng, inner)
    elif rng.random() < 0.2:
        del tree[place]
    elif isinstance(tree, dict) and rng.random() < 0.3:
        tree[text(rng)] = tree.pop(place)
    else:
        tree[place] = rng.choice((integer(rng), text(rng), rng.choice(_ODD)))


def _words(rng: random.Random, data: bytes) -> bytes:
    lines = [line.split(" ") for line in data.decode("utf-8", "replace").split("\n")]
    for _ in range(rng.choice((1, 1, 2, 3))):
        line = rng.choice(lines)
        at = rng.randrange(len(line))
        line[at : at + rng.randrange(2)] = [rng.choice((str(integer(rng)), repr(real(rng)), text(rng), "#int4_op"))]
    return "\n".join(" ".join(line) for line in lines).encode("utf-8", "replace")
