"""SignalWindow, Headroom, ShiftLeft, Energy, Framer and OverlapAdd: frames of samples, sample by sample."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf
from codegen.kernels.common import constant_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sides import sides
from codegen.ops.signal import Energy, Framer, Headroom, OverlapAdd, ShiftLeft, SignalWindow
from codegen.records import record

_WINDOW = ("sound", "window")
_SHIFT = ("sound", "bits")
_FRAMER = ("sound", "before")
_OVERLAP = ("frames", "sums")


@record
class WindowContext:
    """C expressions of sound and window, frames, samples of each, and the shift."""

    x: str
    w: str
    frames: int
    samples: int
    shift: int


@record
class HeadroomContext:
    """Samples."""

    samples: int


@record
class ShiftContext:
    """C expressions of sound and bits, and samples."""

    x: str
    bits: str
    samples: int


@record
class EnergyContext:
    """Numbers of the spectrum, and from which to which the energy is wanted."""

    start: int
    stop: int
    count: int


@record
class FramerContext:
    """C expressions of sound and past; sequences, samples of each, those kept, those of a frame and of a step."""

    x: str
    past: str
    outer: int
    samples: int
    kept: int
    size: int
    step: int

    @property
    def every(self) -> int:
        """Samples kept and new ones."""
        return self.kept + self.samples


@record
class OverlapContext:
    """C expressions of frames and sums; sequences, frames of each, samples, those that leave, and those that stay."""

    x: str
    sums: str
    outer: int
    frames: int
    samples: int
    step: int

    @property
    def kept(self) -> int:
        """Sums that stay."""
        return self.samples - self.step


def _window(node: NodeOf[SignalWindow]) -> Fit | None:
    if not node.dynamic:
        return None
    (samples,) = node.ins[1].shape
    x, w = sides(node, _WINDOW)
    context = WindowContext(x, w, node.ins[0].elements // samples, samples, node.op.shift)
    return Fit(context, constant_fields(node, _WINDOW))


def _headroom(node: NodeOf[Headroom]) -> Fit:
    return Fit(HeadroomContext(node.ins[0].elements))


def _shift(node: NodeOf[ShiftLeft]) -> Fit | None:
    if not node.dynamic:
        return None
    x, bits = sides(node, _SHIFT)
    return Fit(ShiftContext(x, bits, node.ins[0].elements), constant_fields(node, _SHIFT))


def _energy(node: NodeOf[Energy]) -> Fit:
    context = EnergyContext(node.op.start, node.op.stop, node.outs[0].elements)
    return Fit(context, headers=("lam_wrap.h",) if node.op.start < node.op.stop else ())


def _framer(node: NodeOf[Framer]) -> Fit | None:
    if not node.dynamic:
        return None
    (samples,), (kept,) = (t.shape[-1:] for t in node.ins)
    x, past = sides(node, _FRAMER)
    outer = node.ins[0].elements // samples
    context = FramerContext(x, past, outer, samples, kept, node.op.size, node.op.step)
    return Fit(context, constant_fields(node, _FRAMER))


def _overlap(node: NodeOf[OverlapAdd]) -> Fit | None:
    if not node.dynamic:
        return None
    frames, samples = node.ins[0].shape[-2:]
    x, sums = sides(node, _OVERLAP)
    outer = node.ins[1].elements // samples
    return Fit(OverlapContext(x, sums, outer, frames, samples, node.op.step), constant_fields(node, _OVERLAP))


_REQUANT, _BITS = ("lam_requant.h",), ("lam_signal.h", "lam_wrap.h")
KERNELS: tuple[Kernel[Any], ...] = (
    Kernel("signal_window", "signal/window.c.j2", "whole", (SignalWindow,), _window, headers=_REQUANT),
    Kernel("headroom", "signal/headroom.c.j2", "whole", (Headroom,), _headroom, one_input=True, headers=_BITS),
    Kernel(
        "shift_left",
        "signal/shift_left.c.j2",
        "whole",
        (ShiftLeft,),
        _shift,
        headers=("lam_requant.h", "lam_wrap.h"),
    ),
    Kernel("energy", "signal/energy.c.j2", "whole", (Energy,), _energy, one_input=True),
    Kernel("framer", "signal/framer.c.j2", "whole", (Framer,), _framer),
    Kernel("overlap_add", "signal/overlap_add.c.j2", "whole", (OverlapAdd,), _overlap, headers=_REQUANT),
)
