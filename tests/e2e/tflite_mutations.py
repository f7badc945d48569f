"""Ways to damage a TFLite file: the numbers that its reader follows (offsets, lengths, indices, options).

Weights are nine tenths of a model, so that random bytes rarely meet anything else.  `places` lists the numbers which
the reader asks for, with their widths; a mutation changes some of them.
"""

from __future__ import annotations

import contextlib
import random
import struct
import tempfile
from pathlib import Path
from unittest.mock import patch

from codegen.errors import CompileError
from codegen.frontends.tflite import flat
from codegen.frontends.tflite.reader import read_model

_ODD = (0, 1, 2, 3, 4, 5, 7, 8, 12, 127, 128, 255, 256, 4096, 65535, 65536, 2**20, 2**28, 2**31 - 1, 2**31, 2**32 - 1)
_ODD_REALS = (0.0, -1.0, 1e-45, 1e-38, 1e38, float("nan"), float("inf"), 1e-20, 1e20, 0.5, 2.0)
_SHORT_VECTOR = 64


def places(data: bytes) -> list[tuple[int, int]]:
    """Position and width of every number that the reader takes from a sound file, elements of short lists included."""
    found: set[tuple[int, int]] = set()
    number, vector = flat.Flat.number, flat.Flat.vector

    def told_number(self: flat.Flat, position: int, code: str) -> int:
        found.add((position, struct.calcsize(code)))
        return number(self, position, code)

    def told_vector(self: flat.Flat, position: int, width: int) -> tuple[int, int]:
        first, count = vector(self, position, width)
        if width > 1 and count <= _SHORT_VECTOR:
            found.update((first + i * width, width) for i in range(count))
        return first, count

    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        Path(file.name).write_bytes(data)
        told = patch.multiple(flat.Flat, number=told_number, vector=told_vector)
        with told, contextlib.suppress(CompileError):
            read_model(Path(file.name))
    return sorted(found)


def change_numbers(rng: random.Random, data: bytearray, known: list[tuple[int, int]]) -> tuple[str, bytearray]:
    """One to three numbers replaced by odd ones, by their neighbours or by each other."""
    names = []
    for _ in range(rng.choices((1, 2, 3, 8), (6, 2, 1, 1))[0]):
        position, width = rng.choice(known)
        name, value = rng.choice((("odd", _odd), ("near", _near), ("other", _other)))
        mask = (1 << (8 * width)) - 1
        data[position : position + width] = (value(rng, data, position, width, known) & mask).to_bytes(width, "little")
        names.append(name)
    return "+".join(names), data


def _odd(rng: random.Random, data: bytearray, position: int, width: int, known: list[tuple[int, int]]) -> int:
    if width == 4 and rng.random() < 0.25:
        return int.from_bytes(struct.pack("<f", rng.choice(_ODD_REALS)), "little")
    return rng.choice(_ODD) * rng.choice((1, 1, 1, -1))


def _near(rng: random.Random, data: bytearray, position: int, width: int, known: list[tuple[int, int]]) -> int:
    here = int.from_bytes(data[position : position + width], "little")
    return here + rng.choice((-64, -8, -4, -2, -1, 1, 2, 4, 8, 64, here, len(data)))


def _other(rng: random.Random, data: bytearray, position: int, width: int, known: list[tuple[int, int]]) -> int:
    place, size = rng.choice(known)
    return int.from_bytes(data[place : place + size], "little")
