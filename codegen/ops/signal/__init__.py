"""TFLite Micro's signal operators: the same whole numbers that its library gives, to the bit.

A tensor of uint32 is held in s32, of the same bits; one of uint64 in pairs of s32, the low word first.
"""

from codegen.ir.op import Op
from codegen.ops.signal.energy import Energy
from codegen.ops.signal.fft import Irfft, Rfft
from codegen.ops.signal.filter_bank import FilterBank, FilterBankRoot
from codegen.ops.signal.framer import Framer
from codegen.ops.signal.logarithm import FilterBankLog
from codegen.ops.signal.noise import SpectralSubtraction
from codegen.ops.signal.overlap import OverlapAdd
from codegen.ops.signal.pcan import Pcan
from codegen.ops.signal.scaling import Headroom, ShiftLeft
from codegen.ops.signal.window import SignalWindow

SIGNAL_OPS: tuple[type[Op], ...] = (
    SignalWindow,
    Headroom,
    ShiftLeft,
    Rfft,
    Irfft,
    Energy,
    FilterBank,
    FilterBankRoot,
    SpectralSubtraction,
    Pcan,
    FilterBankLog,
    Framer,
    OverlapAdd,
)

__all__ = [
    "SIGNAL_OPS",
    "Energy",
    "FilterBank",
    "FilterBankLog",
    "FilterBankRoot",
    "Framer",
    "Headroom",
    "Irfft",
    "OverlapAdd",
    "Pcan",
    "Rfft",
    "ShiftLeft",
    "SignalWindow",
    "SpectralSubtraction",
]
