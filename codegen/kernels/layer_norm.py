"""LayerNorm: the sums of each pixel, then its channels less their mean over their deviation."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels, range_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import LayerNorm
from codegen.ops.layer_norm import BITS
from codegen.records import record


@record
class LayerNormContext:
    """Elements per pixel; whether each has a gain, or an offset, of its own; fractional bits; what they shift by.

    And whether their mean is taken off, or a number.
    """

    channels: int
    gains: bool
    offsets: bool
    bits: int
    right: int
    centred: bool

    @property
    def one(self) -> str:
        """One, as the offsets of all channels are shifted."""
        return f"((int64_t)1 << {self.bits})"


def _fit(node: NodeOf[LayerNorm]) -> Fit:
    op = node.op
    centred = op.around is None
    context = LayerNormContext(
        channels(node.ins[0].shape), len(op.gain) > 1, len(op.offset) > 1, BITS, 31 - BITS, centred
    )
    words = (op.epsilon & 0xFFFFFFFF, op.epsilon >> 32)
    return Fit(
        context,
        (
            Field("gain", np.array(op.gain, np.int32)),
            Field("offset", np.array(op.offset, np.int32)),
            Field("epsilon", np.array(words, np.uint32)),
            *(() if centred else (Field("around", np.array([op.around], np.int32)),)),
            range_field(op.y_quant.zero_point, op.dtype.low, op.dtype.high),
            Field("shift", np.array([op.shift + BITS], np.int8)),
        ),
    )


LAYER_NORM = Kernel(
    "layer_norm", "layer_norm.c.j2", "pixels", (LayerNorm,), _fit, one_input=True, headers=("lam_fixed.h",)
)

KERNELS: tuple[Kernel[Any], ...] = (LAYER_NORM,)
