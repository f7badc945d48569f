"""Training with the chip's arithmetic: the only room with torch, which is loaded when a name is asked for.

Decides: what is said where torch is not installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from codegen.errors import ExtraMissing

if TYPE_CHECKING:
    from codegen.train.entry import export as export
    from codegen.train.entry import prepare as prepare
    from codegen.train.layers import QuantAdaptiveAvgPool2d as QuantAdaptiveAvgPool2d
    from codegen.train.layers import QuantAdd as QuantAdd
    from codegen.train.layers import QuantAvgPool2d as QuantAvgPool2d
    from codegen.train.layers import QuantBatchNorm2d as QuantBatchNorm2d
    from codegen.train.layers import QuantConv2d as QuantConv2d
    from codegen.train.layers import QuantConvTranspose2d as QuantConvTranspose2d
    from codegen.train.layers import QuantDepthwiseConv2d as QuantDepthwiseConv2d
    from codegen.train.layers import QuantLinear as QuantLinear
    from codegen.train.layers import QuantMul as QuantMul
    from codegen.train.layers import QuantSEBlock as QuantSEBlock
    from codegen.train.layers import QuantUpsample as QuantUpsample
    from codegen.train.prepared import Prepared as Prepared
    from codegen.train.programs import from_torch as from_torch
    from codegen.train.programs import program_bytes as program_bytes
    from codegen.train.reconstruction import Rebuilt as Rebuilt
    from codegen.train.reconstruction import reconstruct as reconstruct
    from codegen.train.writing import quietly as quietly

_HOMES = {
    "Prepared": "codegen.train.prepared",
    "QuantAdaptiveAvgPool2d": "codegen.train.layers",
    "QuantAdd": "codegen.train.layers",
    "QuantAvgPool2d": "codegen.train.layers",
    "QuantBatchNorm2d": "codegen.train.layers",
    "QuantConv2d": "codegen.train.layers",
    "QuantConvTranspose2d": "codegen.train.layers",
    "QuantDepthwiseConv2d": "codegen.train.layers",
    "QuantLinear": "codegen.train.layers",
    "QuantMul": "codegen.train.layers",
    "QuantSEBlock": "codegen.train.layers",
    "QuantUpsample": "codegen.train.layers",
    "export": "codegen.train.entry",
    "from_torch": "codegen.train.programs",
    "prepare": "codegen.train.entry",
    "program_bytes": "codegen.train.programs",
    "quietly": "codegen.train.writing",
    "Rebuilt": "codegen.train.reconstruction",
    "reconstruct": "codegen.train.reconstruction",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """A public name, out of its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_torch("codegen.train trains with PyTorch")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__


def check_torch(purpose: str) -> None:
    """LAM-API-002 where torch is not installed."""
    try:
        importlib.import_module("torch")
    except ImportError:
        raise ExtraMissing("torch", "train", purpose) from None
