"""Kernels for x86: AVX-512 with VNNI, AVX2 or plain C99 (runtime_c/isa/x86), chosen by what the C compiler may use."""

from typing import Any

from codegen.kernels.kernel import Kernel
from codegen.kernels.x86 import binary, conv, dense, depthwise

X86: tuple[Kernel[Any], ...] = (depthwise.DEPTHWISE, dense.DENSE, conv.CONV, binary.BINARY)
"""In the order in which they are tried."""
