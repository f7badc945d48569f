"""Structured mutations of TOML files: lines removed, repeated, moved; values replaced by odd ones of any kind."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.fuzz.values import damaged, integer, real, text

_ODD = (
    "[]",
    "{}",
    "[[]]",
    "true",
    '""',
    "nan",
    "-inf",
    "1979-05-27",
    "0x7fffffffffffffff",
    "9" * 400,
    "[" * 300 + "]" * 300,
    "1e400",
    "'''\n'''",
)


def mutate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One to four changed lines; now and then damaged bytes."""
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        i = rng.randrange(len(lines))
        how = rng.randrange(5)
        if how == 0:
            lines.insert(rng.randrange(len(lines)), lines[i])
        elif how == 1:
            lines[i] = ""
        elif how == 2 and others:
            lines[i] = rng.choice(rng.choice(others).decode("utf-8", "replace").split("\n"))
        elif "=" in lines[i]:
            lines[i] = f"{lines[i].split('=')[0]}= {_value(rng)}"
    changed = "\n".join(lines).encode("utf-8", "replace")
    return damaged(rng, changed) if rng.random() < 0.1 else changed


def _value(rng: random.Random) -> str:
    kind = rng.randrange(4)
    if kind == 0:
        return str(integer(rng))
    if kind == 1:
        return repr(real(rng))
    if kind == 2:
        return '"' + text(rng).replace("\\", "\\\\").replace('"', "") + '"'
    return rng.choice(_ODD)
