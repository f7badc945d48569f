"""Dense layers whose weights have a scale per group of inputs, in plain C: two outputs in a word (halves.py)."""

from __future__ import annotations

from codegen.ir.op import NodeOf
from codegen.kernels.blocked.halves import (
    HALF_WORD,
    MOST_HALF,
    PAIRS,
    halves_context,
    halves_headers,
    halves_params,
    halves_scratch,
)
from codegen.kernels.groups import Grouped, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import BYTES
from codegen.ops import Conv2D, Dense


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node)
    if made is None or not made.bits or made.sums.x not in BYTES:
        return None
    part = _part(made, HALF_WORD // made.bits)
    if not part:
        return None
    k = halves_context(node, made, part, scaled=True)
    why = f"plain C99, {2 * PAIRS} outputs, two in a word, {made.said}"
    return Fit(k, halves_params(node, made, k), halves_scratch(k), why, headers=halves_headers(k))


def _part(made: Grouped, turn: int) -> int:
    """The most inputs of a group whose sums fit half a word: all, or a half, a quarter, in whole words; or 0."""
    parts = (made.block >> halved for halved in range(made.block.bit_length()))
    whole = (n for i, n in enumerate(parts) if i == 0 or (n % turn == 0 and n << i == made.block))
    return next((n for n in whole if made.reach(n) <= MOST_HALF), 0)


GROUP_PAIRS: Kernel[Conv2D | Dense] = Kernel(
    "blocked_group_pairs",
    "blocked/halves.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit,
    without=frozenset({"program_memory"}),
)
