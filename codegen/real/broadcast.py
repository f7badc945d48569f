"""Shapes that stretch against each other."""

from __future__ import annotations

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.shape import Shape


def broadcast(*shapes: Shape) -> Shape:
    """What shapes broadcast to, as numpy has it.

    Raises:
        ShapeMismatch: LAM-IMPORT-014.
    """
    try:
        return tuple(int(n) for n in np.broadcast_shapes(*shapes))
    except (ValueError, RuntimeError) as error:  # the latter for more axes than numpy has
        raise ShapeMismatch(f"shapes {[list(s) for s in shapes]} do not broadcast") from error
