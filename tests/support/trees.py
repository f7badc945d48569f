"""Tables of random decision trees, as FloatTrees takes them."""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array


def random_trees(
    rng: np.random.Generator, features: int, targets: int, trees: int, *, spread: float, codes: bool = False
) -> tuple[Array, ...]:
    """Thresholds, features, other ways, leaves, roots, base, and codes where they are asked for."""
    nodes: list[tuple[float, int, int, int]] = []
    leaves = 0

    def grow(depth: int) -> None:
        nonlocal leaves
        at = len(nodes)
        if depth == 0 or rng.random() < 0.2:
            nodes.append((0.0, -1, leaves, 0))
            leaves += 1
            return
        nodes.append((float(rng.normal(0, spread)), int(rng.integers(features)), 0, int(rng.choice(14))))
        grow(depth - 1)
        threshold, feature, _, code = nodes[at]
        nodes[at] = (threshold, feature, len(nodes), code)
        grow(depth - 1)

    roots = []
    for _ in range(trees):
        roots.append(len(nodes))
        grow(4)
    columns = list(zip(*nodes, strict=True))
    kinds = (np.float32, np.int16, np.int16, np.int8)
    thresholds, at, otherwise, asked = (np.array(c, k) for c, k in zip(columns, kinds, strict=True))
    rows = rng.normal(0, 1, (leaves, targets)).astype(np.float32)
    made = (thresholds, at, otherwise, rows, np.array(roots, np.int32), rng.normal(0, 1, targets).astype(np.float32))
    return (*made, np.where(asked % 8 < 6, asked, 0).astype(np.int8)) if codes else made
