"""softplus of float32; bit-exact twin of runtime_c/include/lam_f32_soft.h.  Accuracy: docs/numerics.md."""

from __future__ import annotations

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, by_blocks
from codegen.float32.exponential import EXP_LEAST, decay, exp2_fraction, in_octaves
from codegen.float32.fixed import from_fixed
from codegen.float32.logarithm import log_fixed, log_less
from codegen.float32.words import INFINITY, NAN, SIGN, bits_of, exponent_of, from_bits, mantissa_of, pack, parts

EIGHTEEN = 0x41900000  # from here on softplus is x
LEAST = 0x32000000  # 2^-27: what is closer to 0 is as 2^-27


def _small(octaves: Int64Array) -> Int64Array:
    """Bits of log(1 + t), t = 2^-octaves at most 2^-5."""
    t, k = exp2_fraction(-octaves), -octaves >> 32
    value = t + ((t * log_less(t >> np.clip(-5 - k, 0, 31))) >> 31)
    less = (value < 1 << 30).astype(np.int64)
    return pack(k - less, value << less)


@by_blocks
def softplus(x: Float32Array) -> Float32Array:
    """log(1 + e^x): max(x, 0) + log(1 + e^-|x|)."""
    sign, size = parts(x)
    some = np.clip(size, LEAST, EXP_LEAST)
    octaves = in_octaves(some, 0)
    near = np.clip(some, LEAST, EIGHTEEN)
    whole = np.where(sign != 0, 0, (mantissa_of(near) << 37) >> (4 - exponent_of(near)))
    result = bits_of(from_fixed(np.zeros_like(sign), whole + log_fixed(SIGN + decay(octaves), np.zeros_like(sign)), 56))
    result = np.where((sign != 0) & (octaves >= 5 << 32), _small(octaves), result)
    result = np.where(size > np.where(sign != 0, EXP_LEAST, EIGHTEEN), np.where(sign != 0, 0, size), result)
    return from_bits(np.where(size > INFINITY, NAN, result))
