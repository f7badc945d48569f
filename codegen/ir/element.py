"""Types of elements by name, and the one among them that numpy lacks.

A bfloat16 is the upper half of a float32.  Tensors of bfloat16 are float32 arrays here, whose numbers bfloat16 holds;
their type is that of float32, equal to it, and says besides what they are of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_NAME = "bfloat16"
BFLOAT16: np.dtype[Any] = np.dtype(np.float32, metadata={"of": _NAME})


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Whether a type is that of bfloat16, which float32's equals."""
    return dtype.metadata is not None and dtype.metadata.get("of") == _NAME


def element_name(dtype: np.dtype[Any]) -> str:
    """The name of a type."""
    return _NAME if is_bfloat16(dtype) else dtype.name


def element_type(name: str) -> np.dtype[Any]:
    """The type of a name."""
    return BFLOAT16 if name == _NAME else np.dtype(name)
