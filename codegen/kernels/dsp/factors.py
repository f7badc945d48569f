"""From a sum to its byte in blocks of assembly: the numbers of each channel, as lam_armv7em_byte.h takes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.kernels.fast import FastRequant, fast_fields
from codegen.kernels.lined import Line, halved_line_of
from codegen.kernels.weighted import Weighted
from codegen.records import record


@record(eq=False)
class Factors:
    """Bias, multiplier without a sign, and shift or addend of each channel."""

    bias: Array
    multiplier: Array
    place: Array


def with_line(sums: Weighted, rq: FastRequant, last: int, bias_bits: int = 32) -> FastRequant:
    """The form of outputs by one product and one sum, where there are numbers for all channels; else the one given.

    `last` is the channel whose addend says that it is the last one to be read.  Some layers have no such numbers: they
    are not looked for where other weights have to fit the kernel.
    """
    line = None if sums.sent else _line(sums, last)
    most = 1 << (bias_bits - 1)
    fits = line is not None and bool((np.abs(sums.folded + line.offset) < most).all())
    return replace(rq, form="lined") if fits else rq


def _line(sums: Weighted, last: int) -> Line | None:
    return halved_line_of(sums.op.requant, sums.reaches, last) if sums.op.requant else None


def factors_of(sums: Weighted, rq: FastRequant, last: int) -> Factors:
    """The numbers of a form; of multipliers that stand doubled, twice."""
    line = _line(sums, last) if rq.form == "lined" else None
    if line is not None:
        return Factors((sums.folded + line.offset).astype(np.int32), line.multiplier.astype(np.uint32), line.addend)
    channels = len(sums.weights)
    fields = {field.name: field.values for field in fast_fields(sums.op.requant, sums.reach, channels)}
    multiplier, shift = (np.broadcast_to(fields[name], channels) for name in ("multiplier", "shift"))
    doubled = np.uint32(rq.form in ("tflite", "low"))
    return Factors(sums.folded, multiplier.astype(np.uint32) << doubled, shift.astype(np.int16))
