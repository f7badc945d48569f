"""Kernels of TFLite Micro's signal operators, in plain C99."""

from typing import Any

from codegen.kernels.kernel import Kernel
from codegen.kernels.signal import channels, fft, frames

SIGNAL: tuple[Kernel[Any], ...] = (*frames.KERNELS, *fft.KERNELS, *channels.KERNELS)
