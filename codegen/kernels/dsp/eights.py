"""Pointwise layers of eight inputs: the weights of a channel stay in registers while some pixels pass by.

A panel of two channels loads and widens weights for each three pixels; with eight inputs that, and what it does around
them, is more than the products.  Parameters are those of panels, outputs take one product and one sum.
"""

from __future__ import annotations

from codegen.ir.form import Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.shape import row_pixels
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.dsp.panel_mix import spread_mix
from codegen.kernels.dsp.panels import LETTERS, assembly_sums, stream
from codegen.kernels.fast import FastRequant
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Conv2D, Dense
from codegen.records import record

_INPUTS = 8
_COLUMN_BYTES = 16
_MOST_PIXELS = 24
_MOST_APART = 255
"""The largest offset by which a store moves on."""


@record
class EightContext:
    """Literals of one layer: `most` pixels are widened at a time.

    `bits`: weights have few, or 0; `own`: with zero points of their own.
    """

    widen: str
    c_out: int
    most: int
    bits: int
    own: bool
    rq: FastRequant

    @property
    def letter(self) -> str:
        """What the block is told of weights of few bits."""
        return LETTERS[self.bits].upper() + ("_OWN" if self.own else "")


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    found = assembly_sums(node, few=True)
    channels, pixels = node.outs[0].shape[-1], row_pixels(node.outs[0].shape)
    if found is None or not is_pointwise(node.op) or node.ins[0].shape[-1] != _INPUTS:
        return None
    if (
        found.rq.form != "lined"
        or found.limits
        or found.sums.shift is not None
        or channels % 2
        or channels > _MOST_APART
        or pixels < 4
    ):
        return None
    sums, rq = found.sums, found.rq
    most = min(_MOST_PIXELS, pixels)
    k = EightContext(sums.x.value, channels, most, sums.bits, sums.less is not None, rq)
    weights = stream(sums, rq, groups=_INPUTS // 4, pieces=1, wide=False)
    why = f"{most} pixels x 1 channel, whose weights stay in registers, SMLAD on inputs widened once per pixel"
    columns = Scratch("columns", _COLUMN_BYTES * most)
    return Fit(
        k,
        (weights,),
        (columns,),
        why + sums.said,
        headers=(f"lam_armv7em_eight{'_few' if k.bits else ''}.h",),
        mix=_mix(k, node.outs[0].elements // channels, pixels),
        in_place=True,
        larger=True,
    )


def _mix(k: EightContext, pixels: int, width: int) -> Mix:
    """What a row takes, counted in the assembly, of so many pixels in a call.

    An output, and a channel of the pixels that it stays for.
    """
    output = Mix(other=1.25, store=1, multiple=1, moved=4, multiply_add=5, taken=0.25)
    channel = Mix(other=8, load=5, load_next=5, store=1.5, multiple=1, moved=2, taken=2)
    channel += Mix(other=6 + k.own, load=int(k.own)) if k.bits else Mix()
    turns = -(-pixels // k.most)
    widened = spread_mix(_INPUTS * pixels)
    call = Mix(other=12, load=1, store=1, multiple=6, moved=20, taken=3).times(turns)
    whole = widened + call + (output.times(pixels) + channel.times(turns)).times(k.c_out)
    return whole.times(width / pixels)


EIGHTS: Kernel[Conv2D | Dense] = Kernel(
    "dsp_eights",
    "dsp/eights.c.j2",
    "pixels",
    (Conv2D, Dense),
    _fit,
    frozenset({"dsp"}),
    headers=("lam_armv7em_panel.h",),
)
