"""The least that a layer's products take on a core: what the innermost loop of the best block takes for one of them.

Every limit stands here, and nowhere else.  Those of assembly are counts of its loops, as the runtime's headers have
them (tests/unit/kernels/test_limits.py holds them to what is counted on the emulated chips); those of plain C follow
from the registers that a block has (blocked/registers.py).  What comes beside the loop is not in them: requantization
and stores, but where a loop is too short to be without; what a row or a window starts with; filling.
"""

from __future__ import annotations

from typing import cast

from codegen.ir.op import NodeOf, NodeView
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.kernels.blocked.cores import CORES, Core
from codegen.kernels.blocked.registers import Slide, slide_limit, tap_limit
from codegen.kernels.column import as_rows
from codegen.kernels.conv2d import is_depthwise
from codegen.kernels.dsp.slides import ThreeByThree, choose_blocks
from codegen.kernels.dsp.window_slides import WindowSlides
from codegen.kernels.dsp.winograd import takes_pairs
from codegen.kernels.kernel import Features
from codegen.kernels.mve.depthwise import window_vectors
from codegen.ops import Add, Conv2D, Dense, GlobalAveragePool
from codegen.records import record

HIGHEST = 1.5
"""Times its limit that a layer may take before it owes a reason."""


@record
class Loop:
    """A turn of an innermost loop: its instructions, and the products, or elements, that it makes."""

    instructions: float
    products: int
    said: str

    @property
    def each(self) -> float:
        """Instructions of a product, or of an element."""
        return self.instructions / self.products


_DSP_PANEL = Loop(19, 24, "3 pixels x 2 channels, SMLAD")
_DSP_WIDE_PANEL = Loop(16, 24, "3 pixels x 2 channels, SMLAD on weights of 16 bits")
_DSP_WINOGRAD = Loop(16, 36, "3 pairs of outputs x 2 channels, 4 products for 6, SMLAD on weights of 16 bits")
_DSP_WINOGRAD_PAIRS = Loop(10, 24, "2 pairs of outputs x 2 channels, 4 products for 6, SMLAD on weights of 16 bits")
_DSP_DENSE = Loop(18, 16, "1 pixel x 4 channels, SMLAD")
_DSP_WIDE_DENSE = Loop(11, 16, "1 pixel x 4 channels, SMLAD on weights of 16 bits")
_DSP_OUTPUT, _LONG_ROW = 5, 240
"""Instructions that a block's count has for an output, which is requantized and stored; outputs of a row of any."""
_MVE_PAIRS = Loop(14, 128, "2 pixels x 4 channels, VMLADAVA")
_MVE_VECTOR = Loop(9, 64, "1 pixel x 4 channels, VMLADAVA")
_MVE_SMALL_WINDOW, _MVE_WINDOW, _MVE_OUTPUTS = 38, 16, 23
_MVE_ADD = Loop(9, 8, "4 sums a turn")
_MVE_MEAN = Loop(10, 16, "16 channels of a pixel")
_V6M_DENSE = Loop(19, 4, "1 pixel x 4 channels, a tap")
"""Compilers find more of its loads' offsets in registers than the model of blocks counts."""
_ADD = Loop(34, 8, "4 sums a turn")
_MEAN = Loop(20, 8, "8 pixels of a channel")


def limit_of(view: NodeView, features: Features, *, expands: bool = False) -> Loop | None:
    """The loop that a layer would best have nothing but; None for real numbers and what has no block on the core.

    `expands`: the chip has flash for weights of 16 bits.
    """
    if any(t.dtype is DType.F32 for t in (*view.ins, *view.outs)):
        return None
    if isinstance(view.op, Conv2D | Dense):
        return _products(cast("NodeOf[Conv2D | Dense]", view), features, expands=expands)
    return _elements(view, features)


def _products(view: NodeOf[Conv2D | Dense], features: Features, *, expands: bool) -> Loop | None:
    if is_depthwise(view):
        loops = (_window(row.op, features) for row in (view, *as_rows(view, 1)))
        return min((loop for loop in loops if loop), key=lambda loop: loop.each, default=None)
    single = view.outs[0].shape[1:-1] in ((), (1,), (1, 1))
    if "dsp" in features:
        if single:
            return _DSP_WIDE_DENSE if expands else _DSP_DENSE
        if takes_pairs(view) and (expands or "winograd" in features):
            return _DSP_WINOGRAD if expands else _DSP_WINOGRAD_PAIRS
        return _DSP_WIDE_PANEL if expands else _DSP_PANEL
    if "mve" in features:
        return _MVE_VECTOR if single else _MVE_PAIRS
    if "armv6m" in features and single:
        return _V6M_DENSE
    core = _core(features)
    return None if core is None else _block(core, single=single)


def _window(op: Conv2D, features: Features) -> Loop | None:
    """Of a convolution whose channels have windows of their own."""
    taps = op.h.size * op.w.size
    if "dsp" in features:
        return _slide(op.h.size, op.w)
    if "mve" in features:
        vectors = window_vectors(op.h.size, op.w.size)
        if vectors == 1:
            return Loop(_MVE_SMALL_WINDOW, 8 * taps, "8 outputs with requantization, VMLADAV")
        return Loop(_MVE_WINDOW * vectors + _MVE_OUTPUTS, 4 * taps, "4 outputs with requantization, VMLADAV")
    core = _core(features)
    if core is None:
        return None
    pixels, instructions = slide_limit(core, Slide(_LONG_ROW, op.h.size, op.w.size, op.w.stride, op.w.dilation))
    return Loop(instructions, pixels * taps, f"{pixels} outputs of one channel")


def _slide(rows: int, w: Window) -> Loop | None:
    """The best of the blocks of a long row that SMLAD sums, without what outputs take; None where there are none."""
    counted = (
        ThreeByThree("single", "s8", wide=False) if (rows, w.size) == (3, 3) else WindowSlides(rows, w.size, 0, "s8")
    )
    along = Window(w.size, min(w.stride, w.size))
    width = (_LONG_ROW - 1) * along.stride + along.size
    blocks = choose_blocks(counted, along, (1, rows, width, 1), (1, 1, _LONG_ROW, 1)) if counted.most > 0 else None
    if blocks is None:
        return None
    loops = [(counted.each(v).instructions - _DSP_OUTPUT * v.pixels, v.pixels) for v in blocks[0]]
    instructions, pixels = min(loops, key=lambda loop: loop[0] / loop[1])
    return Loop(instructions, pixels * rows * w.size, f"{pixels} outputs of one channel, SMLAD on pairs of rows")


def _block(core: Core, *, single: bool) -> Loop:
    pixels, channels, instructions = tap_limit(core, single=single)
    said = f"{pixels} pixel{'s' if pixels > 1 else ''} x {channels} channels, a tap"
    return Loop(instructions, pixels * channels, said)


def _elements(view: NodeView, features: Features) -> Loop | None:
    """Of operators without products those that image networks are made of."""
    if isinstance(view.op, Add):
        return _MVE_ADD if "mve" in features else _ADD if "armv7m" in features else None
    if isinstance(view.op, GlobalAveragePool):
        return _MVE_MEAN if "mve" in features else _MEAN if "armv7m" in features else None
    return None


def _core(features: Features) -> Core | None:
    """The core without vectors that a chip has, of those whose registers are known by name."""
    return next((core for name, core in CORES.items() if name in features), None)
