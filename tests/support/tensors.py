"""Random tensors of many distributions, and what a network's activations look like among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.statistics import Statistics

SHAPES: tuple[Callable[[np.random.Generator, int], Array], ...] = (
    lambda r, n: r.normal(0, 1, n),
    lambda r, n: r.normal(1.5, 1, n),
    lambda r, n: r.laplace(0, 1, n),
    lambda r, n: np.maximum(r.normal(-0.3, 1, n), 0),
    lambda r, n: np.clip(r.normal(2, 3, n), 0, 6),
    lambda r, n: r.uniform(-3, 1, n),
    lambda r, n: r.standard_t(3, n),
    lambda r, n: r.exponential(1, n),
    lambda r, n: -r.exponential(1, n),
    lambda r, n: np.where(r.random(n) < 0.01, r.normal(0, 20, n), r.normal(0, 1, n)),
    lambda r, n: 1 / (1 + np.exp(-r.normal(0, 3, n))),
    lambda r, n: r.uniform(5, 6, n),
)


def tensors(count: int, size: int = 4000) -> list[Array]:
    """`count` tensors of float32, of sizes over eight powers of ten."""
    found = []
    for seed in range(count):
        random = np.random.default_rng(seed)
        scale = 10.0 ** random.uniform(-4, 4)
        found.append((scale * SHAPES[seed % len(SHAPES)](random, size)).astype(np.float32))
    return found


def statistics_of(x: Array, bins: int = 2048, parts: int = 5) -> Statistics:
    """Both passes over a tensor that comes in parts."""
    statistics = Statistics(bins)
    for part in np.array_split(x, parts):
        statistics.first(part)
    for part in np.array_split(x, parts):
        statistics.second(part)
    return statistics
