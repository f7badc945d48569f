"""FilterBank and FilterBankRoot: energies summed in overlapping channels, and the square roots of the sums.

FilterBank      x: uint32 in s32[N];  w, u: s16[W];  first, weight, width: s16[C + 1] -> y: uint64 in s32[C, 2]

    y[c] = sum_j w[weight[c + 1] + j] x[first[c + 1] + j]  over j below width[c + 1]
         + sum_j u[weight[c] + j] x[first[c] + j]          over j below width[c], modulo 2^64

FilterBankRoot  x: uint64 in s32[C, 2], bits: s32[] -> y: uint32 in s32[C]

    y[c] = root(x[c]) >> bits, where root rounds to nearest, but for 2^32 - 2^16 < x < 2^32: there it is 2^16 - 1, and
    2^32 - 1 for all above its square; 0 where bits is below 0 or above 31

Source: tflite-micro, signal/src/filter_bank.cc, square_root_32.cc, square_root_64.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.limits import require, types_among
from codegen.ops.signal.words import as_words, joined, split, unsigned
from codegen.records import record


@record
class FilterBank:
    """Sums of energies by the weights of two neighbouring channels."""

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-12", 0, "the input", (DType.S32,)),
        *(
            types_among(f"LAM-OPS-SIGNAL-{12 + i}", i, what, (DType.S16,))
            for i, what in enumerate(("weights", "unweights", "frequency starts", "weight starts", "widths"), 1)
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 6, self, f"takes energies, two weights, two starts and widths, got {len(ins)} inputs")
        shapes = [t.shape for t in ins]
        flat = all(len(s) == 1 for s in shapes) and shapes[1] == shapes[2]
        fits = flat and shapes[3] == shapes[4] == shapes[5] and shapes[3][0] >= 2
        require(fits, self, f"inputs of shapes {[list(s) for s in shapes]}")
        return (TensorType((shapes[3][0] - 1, 2), DType.S32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x = unsigned(ins[0])
        w, u = (a.astype(np.int64).astype(np.uint64) for a in ins[1:3])
        total, other = np.zeros(len(ins[3]), np.uint64), np.zeros(len(ins[3]), np.uint64)
        with np.errstate(over="ignore"):
            for c, (first, weight, width) in enumerate(zip(*(a.tolist() for a in ins[3:]), strict=True)):
                span, taps = x[first : first + width], slice(weight, weight + width)
                total[c], other[c] = (span * w[taps]).sum(dtype=np.uint64), (span * u[taps]).sum(dtype=np.uint64)
            return (split(total[1:] + other[:-1]),)

    def macs(self, ins: Types, outs: Types) -> int:
        """Two per weight."""
        return 2 * ins[1].elements

    rows = whole
    in_place = never_in_place


def spans_fit(energies: int, weights: int, starts: Sequence[Array]) -> bool:
    """Whether all channels (frequency starts, weight starts, widths) stay within their tensors."""
    first, weight, width = (a.astype(np.int64) for a in starts)
    taken = width > 0
    inside = (first >= 0) & (first + width <= energies) & (weight >= 0) & (weight + width <= weights)
    return bool((inside | ~taken).all())


@record
class FilterBankRoot:
    """Rounded square roots, shifted to the right."""

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-18", 0, "the input", (DType.S32,)),
        types_among("LAM-OPS-SIGNAL-19", 1, "the bits", (DType.S32,)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 2, self, f"takes sums and bits, got {len(ins)} inputs")
        x, bits = ins
        require(len(x.shape) == 2 and x.shape[1] == 2, self, f"takes pairs of words, got {list(x.shape)}")
        require(bits.elements == 1, self, f"one number of bits, got {list(bits.shape)}")
        return (TensorType(x.shape[:1], DType.S32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        bits = int(ins[1].reshape(-1)[0])
        roots = [_root(int(x)) >> bits if 0 <= bits < 32 else 0 for x in joined(ins[0])]
        return (as_words(np.array(roots, np.uint64)),)

    rows = whole
    macs = no_macs
    in_place = never_in_place


def _root(x: int) -> int:
    """The nearest root that half the bits of x hold."""
    below = math.isqrt(x)
    most = (1 << 32) - 1 if x >> 32 else (1 << 16) - 1
    return below + (x - below * below > below and below != most)
