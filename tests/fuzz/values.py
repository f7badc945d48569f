"""Odd values, by kind: the edges of integers and floats, and texts that mean something to a reader, a shell or C."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_SMALL = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 32, 127, 128, 255, 256, 1000)
_INTEGERS = (*_SMALL, 2**15, 2**16, 2**20, 2**30, 2**31, 2**62)
_REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-6, 1e-45, 1e-38, 1e-42, 1e20, 3.4e38, 1e308, math.inf, -math.inf, math.nan)
_TEXTS = (
    "",
    "x",
    "*/ int system(const char *); /*",
    "*\\ extern int y; ...\\*",
    "??/",
    "`id`",
    "$(id)",
    "../../etc/passwd",
    "a;b",
    "\x1b[2J",
    "\u202e",
    "\x00",
    "\n",
    "com.microsoft",
    "main",
    "int",
    "x" * 5000,
    "NOTSET",
    "SAME_UPPER",
)


def integer(rng: random.Random, near: int = 0) -> int:
    """An edge of the integers, or a neighbour of the value that was there."""
    if rng.random() < 0.4:
        return near + rng.choice((-2, -1, 1, 2, near))
    return rng.choice(_INTEGERS) * rng.choice((1, 1, 1, -1)) - rng.choice((0, 0, 1))


def real(rng: random.Random, near: float = 1.0) -> float:
    """An edge of the floats, or the value that was there, scaled."""
    return near * rng.choice((-1.0, 0.5, 2.0, 1e-7, 1e7)) if rng.random() < 0.4 else rng.choice(_REALS)


def text(rng: random.Random, near: str = "") -> str:
    """A text that some reader might take for more than a text."""
    return f"{near}{rng.choice(_TEXTS)}" if rng.random() < 0.3 else rng.choice(_TEXTS)


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Bytes cut, flipped, repeated or replaced."""
    changed = bytearray(data or b"\0")
    at = rng.randrange(len(changed))
    how = rng.randrange(5)
    if how == 0:
        return bytes(changed[:at])
    if how == 1:
        changed[at] ^= 1 << rng.randrange(8)
    elif how == 2:
        changed[at:at] = changed[at : at + rng.choice((1, 4, 64))]
    elif how == 3:
        changed[at : at + 8] = rng.choice((b"\0", b"\xff", b"\x80")) * 8
    else:
        del changed[at : at + rng.choice((1, 2, 4, 100))]
    return bytes(changed)


@dataclass(frozen=True)
class Mutation:
    """One to four changes of a model, of which a share of `often` contradicts what the model says elsewhere."""

    rng: random.Random
    parsed: Callable[[bytes], Any]
    change: Callable[[random.Random, Any, Any], None]
    contradict: Callable[[random.Random, Any], None]
    often: float

    def of(self, data: bytes, others: Sequence[bytes]) -> Any:
        """The changed model, with parts of one of the others in it; None where the file cannot be read."""
        rng, model = self.rng, self.parsed(data)
        if model is None:
            return None
        donor = self.parsed(rng.choice(others)) if others else None
        for _ in range(rng.choice((1, 1, 2, 4))):
            if rng.random() < self.often:
                self.contradict(rng, model)
            else:
                self.change(rng, model, donor)
        return model
