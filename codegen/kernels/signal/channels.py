"""FilterBank, FilterBankRoot, SpectralSubtraction, Pcan and FilterBankLog: channels of a spectrum, one by one.

Decides: that weights lie one channel after the other, without those that no channel reads or that add nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.common import constant_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sides import sides
from codegen.ops.signal import FilterBank, FilterBankLog, FilterBankRoot, Pcan, SpectralSubtraction
from codegen.ops.signal.filter_bank import spans_fit
from codegen.ops.signal.logarithm import logarithms
from codegen.ops.signal.pcan import ENTRIES
from codegen.records import record

_ROOT = ("sums", "bits")
_NOISE = ("energies", "noise")
_PCAN = ("energies", "noise", "gains")


@record
class BankContext:
    """Channels, and the type that a weight is multiplied as."""

    channels: int
    weight_t: str

    @property
    def rows(self) -> int:
        """Rows of weights: one more than channels."""
        return self.channels + 1


@record
class RootContext:
    """C expressions of sums and bits, and channels."""

    x: str
    bits: str
    channels: int


@record
class NoiseContext:
    """C expressions of energies and noise, channels, shifts, and whether the noise is held below the energy."""

    x: str
    noise: str
    channels: int
    smoothing_bits: int
    bits: int
    clamping: bool


@record
class PcanContext:
    """C expressions of energies and noise, channels and the shift."""

    x: str
    noise: str
    gains: str
    channels: int
    shift: int


@record
class LogContext:
    """Channels, and bits that they gain."""

    channels: int
    correction: int


def _bank(node: NodeOf[FilterBank]) -> Fit | None:
    known = [c for c in node.consts[1:] if c is not None]
    if node.dynamic != (0,) or len(known) < 5 or not spans_fit(node.ins[0].elements, known[0].size, known[2:]):
        return None
    spans = [_trimmed(known[0], known[1], *span) for span in zip(*(a.tolist() for a in known[2:]), strict=True)]
    taps = np.concatenate([np.arange(weight, weight + width) for _, weight, width in spans])
    weights, unweights = (a[taps.astype(np.int64)] for a in known[:2])
    signed = bool((weights < 0).any() or (unweights < 0).any())
    context = BankContext(node.outs[0].shape[0], "int64_t" if signed else "uint32_t")
    first, width = (np.array([span[i] for span in spans], np.int16) for i in (0, 2))
    tables = (("weights", weights), ("unweights", unweights), ("first", first), ("width", width))
    return Fit(context, tuple(Field(name, _some(table)) for name, table in tables))


def _trimmed(weights: Array, unweights: Array, first: int, weight: int, width: int) -> tuple[int, int, int]:
    """A channel without the weights at its ends that are zero with their unweights: they fill it up to a boundary."""
    span = slice(weight, weight + max(width, 0))
    used = np.flatnonzero((weights[span] != 0) | (unweights[span] != 0))
    if not used.size:
        return 0, 0, 0
    start = int(used[0])
    return first + start, weight + start, int(used[-1]) + 1 - start


def _some(array: Array) -> Array:
    """The numbers, or one where there are none."""
    return array if array.size else np.zeros(1, array.dtype)


def _root(node: NodeOf[FilterBankRoot]) -> Fit | None:
    if not node.dynamic:
        return None
    x, bits = sides(node, _ROOT)
    return Fit(RootContext(x, bits, node.outs[0].elements), constant_fields(node, _ROOT))


def _noise(node: NodeOf[SpectralSubtraction]) -> Fit | None:
    op = node.op
    if not node.dynamic:
        return None
    x, noise = sides(node, _NOISE)
    context = NoiseContext(x, noise, node.ins[0].elements, op.smoothing_bits, op.bits, op.clamping)
    factors = (
        Field("smooth", np.array(op.smooth, np.uint32), about="of even and of odd channels"),
        Field("keep", np.array(op.keep, np.uint32), about="of even and of odd channels"),
        Field("least", np.array([op.least], np.uint32)),
    )
    return Fit(context, (*factors, *constant_fields(node, _NOISE)))


def _pcan(node: NodeOf[Pcan]) -> Fit | None:
    if not node.dynamic:
        return None
    x, noise, table = sides(node, _PCAN)
    gains = node.consts[2]
    known = constant_fields(node, _PCAN)
    if gains is not None:
        known = (*known[:-1], Field("gains", gains[:ENTRIES]))
    return Fit(PcanContext(x, noise, table, node.ins[0].elements, node.op.shift), known)


def _log(node: NodeOf[FilterBankLog]) -> Fit:
    fields = (
        Field("scale", np.array([node.op.scale & 0xFFFFFFFF], np.uint32)),
        Field("table", np.array(logarithms(), np.uint16), about="how far a logarithm to base 2 lies above a line"),
    )
    return Fit(LogContext(node.ins[0].elements, node.op.correction), fields)


_SIGNAL = ("lam_signal.h",)
_BOTH = (*_SIGNAL, "lam_wrap.h")
KERNELS: tuple[Kernel[Any], ...] = (
    Kernel("filter_bank", "signal/filter_bank.c.j2", "whole", (FilterBank,), _bank, headers=("lam_wrap.h",)),
    Kernel("filter_bank_root", "signal/root.c.j2", "whole", (FilterBankRoot,), _root, headers=_BOTH),
    Kernel(
        "spectral_subtraction",
        "signal/spectral_subtraction.c.j2",
        "whole",
        (SpectralSubtraction,),
        _noise,
        headers=("lam_wrap.h",),
    ),
    Kernel("pcan", "signal/pcan.c.j2", "whole", (Pcan,), _pcan, headers=_BOTH),
    Kernel("filter_bank_log", "signal/log.c.j2", "whole", (FilterBankLog,), _log, one_input=True, headers=_SIGNAL),
)
