"""Rfft and Irfft: where they lie, in stages of radix 4 behind one of radix 2 where there is one.

Decides: that all turns come from one table of cosines, as long as a frame; numbers are put in order without a table.
"""

from __future__ import annotations

import math
from typing import Any

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops.signal import Irfft, Rfft
from codegen.ops.signal.fft import cosines
from codegen.records import record


@record
class FftContext:
    """Types of a sample and of a product, the bits of a product that are rounded off; frames, samples given of each.

    `points` complex numbers make a frame of `length`.
    """

    sample_t: str
    product_t: str
    wrap: str
    bits: int
    high: int
    frames: int
    samples: int
    length: int

    @property
    def points(self) -> int:
        """Complex numbers."""
        return self.length // 2

    @property
    def quarter(self) -> int:
        """Steps of the table to a quarter of a turn."""
        return self.length // 4

    @property
    def last(self) -> int:
        """Weight of the digit that changes from each number to the next."""
        return self.points // self.radix

    @property
    def radix(self) -> int:
        """Of the first stage."""
        return 2 if self.points.bit_length() % 2 == 0 else 4

    @property
    def first(self) -> int:
        """Numbers of each spectrum where the stages of radix 4 begin."""
        return 2 if self.radix == 2 else 1

    @property
    def half(self) -> int:
        """What rounds a product half up."""
        return 1 << (self.bits - 1)

    @property
    def second(self) -> int:
        """What halves."""
        return self.high // 2

    @property
    def fourth(self) -> int:
        """What divides by four."""
        return self.high // 4

    @property
    def spectrum(self) -> int:
        """Numbers of a spectrum, two of each complex one."""
        return self.length + 2

    @property
    def missing(self) -> bool:
        """Whether zeros are put behind the samples."""
        return self.samples < self.length


def _fit(node: NodeOf[Rfft] | NodeOf[Irfft]) -> Fit:
    x, length = node.ins[0], node.op.length
    wide = x.dtype is DType.S32
    context = FftContext(
        sample_t=x.dtype.ctype,
        product_t="int64_t" if wide else "int32_t",
        wrap="lam_wrap_i32" if wide else "lam_wrap_i16",
        bits=31 if wide else 15,
        high=x.dtype.high,
        frames=math.prod(x.shape[:-1]),
        samples=x.shape[-1],
        length=length,
    )
    table = Field("cosine", cosines(x.dtype, length), about="of a whole turn")
    back = isinstance(node.op, Irfft)
    scratch = (Scratch("pairs", length * x.dtype.bytes),) if back else ()
    return Fit(context, (table,), scratch)


_HEADERS = ("lam_wrap.h",)
KERNELS: tuple[Kernel[Any], ...] = (
    Kernel("rfft", "signal/rfft.c.j2", "whole", (Rfft,), _fit, one_input=True, headers=_HEADERS),
    Kernel("irfft", "signal/irfft.c.j2", "whole", (Irfft,), _fit, one_input=True, headers=_HEADERS),
)
