"""L2Norm: each pixel divided by its length, the root of the sum of its channels' squares.

x: s8[..., C] -> y: s8[..., C] of scale 1/128, zero point 0.  d = q - zx.

    S    = sum of d^2 over the channels                              int32: C is at most 32767
    M, e = 1 / sqrt(S) as a multiplier of 31 bits and its exponent   ops/fixed_functions.py: inverse_sqrt
    y    = clamp(MultiplyByQuantizedMultiplier(d, M, e + 7))         two roundings, in every mode

Source: tensorflow/lite/kernels/internal/reference/integer_ops/l2normalization.h; the scale of the input cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, in_place_when_equal, last_axis_stays, no_macs, same_row
from codegen.ops.fixed_functions import inverse_sqrt
from codegen.ops.limits import limit, only_input, require, types_among
from codegen.records import record

OUTPUT = Quant(2.0**-7, 0)
OUTPUT_BITS = 7


@record
class L2Norm:
    """The channels of each pixel divided by the root of the sum of their squares."""

    x_zero_point: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-REDUCTION-07", 0, "the input", (DType.S8,)),
        limit(
            "LAM-OPS-REDUCTION-08", "there must be at most 32767 channels", lambda op, ins: ins[0].shape[-1] <= 32767
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(x.shape) >= 1, self, "takes a tensor of one axis or more")
        return (TensorType(x.shape, DType.S8, OUTPUT),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        pixels = x.reshape(-1, x.shape[-1]).astype(np.int64) - self.x_zero_point
        roots = [inverse_sqrt(int(total)) for total in (pixels * pixels).sum(axis=1)]
        scaled = [
            fixedpoint.requantize_tflite(d, root, exponent + OUTPUT_BITS, 0, -128, 127)
            for d, (root, exponent) in zip(pixels, roots, strict=True)
        ]
        return (np.stack(scaled).astype(np.int8).reshape(x.shape),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = last_axis_stays
