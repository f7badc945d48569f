"""The structured mutation of each reader's files."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.fuzz import foreign_trees, onnx_trees, tflite_trees, toml_trees
from tests.fuzz.values import damaged

Mutate = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def _bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return damaged(rng, data)


MUTATORS: dict[str, Mutate] = {
    "onnx": onnx_trees.mutate,
    "onnx-real": onnx_trees.mutate,
    "tflite": tflite_trees.mutate,
    "tflite-real": tflite_trees.mutate,
    "target": toml_trees.mutate,
    "config": toml_trees.mutate,
    "quantizer": toml_trees.mutate,
    "foreign": foreign_trees.mutate,
    "arrays": _bytes,
}
