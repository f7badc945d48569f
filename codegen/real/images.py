"""What an operator makes of one image of a batch, and answers that many operators share.

A batch is the first axis of a tensor.  `one_image` is the operator that makes of the images' own tensors, whose first
axis is 1, what this one makes of all of them together: element i along the first axis of each result depends on
elements i of those inputs that are `apart`, and on all of the others, which every image reads.  Assigned in a class
body (`one_image = of_first`), a function here is that operator's method.  What an operator does not say is not so: it
mixes images.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.ir.real import RealOp, RealType

Apart = Sequence[bool]
"""Of each input, whether its first axis is the batch."""


def one_image(op: RealOp, ins: Sequence[RealType], apart: Apart) -> RealOp | None:
    """The operator on one image; None where images are mixed."""
    answer = getattr(op, "one_image", None)
    found: RealOp | None = None if answer is None else answer(ins, apart)
    if found is None:
        return None
    ones = [one_of(kind) if own else kind for kind, own in zip(ins, apart, strict=True)]
    wanted = [one_of(kind) for kind in op.infer(ins)]
    return found if list(found.infer(ones)) == wanted else None


def one_of(kind: RealType) -> RealType:
    """The type of one image's part."""
    return kind.shaped((1, *kind.shape[1:]))


def of_first(op: RealOp, ins: Sequence[RealType], apart: Apart) -> RealOp | None:
    """Of an operator that treats the images of its first input alike, by what the other ones say."""
    return None if any(apart[1:]) else op


def of_maps(op: RealOp, ins: Sequence[RealType], apart: Apart) -> RealOp | None:
    """Of one whose first input has a batch only where there is an axis behind it."""
    return op if len(ins[0].shape) > 1 and not any(apart[1:]) else None


def of_aligned(op: RealOp, ins: Sequence[RealType], apart: Apart) -> RealOp | None:
    """Of an operator on elements that broadcast: the batch is the first axis of all, and the others have one image."""
    rank = max(len(kind.shape) for kind in ins)
    first = [kind.shape[0] if len(kind.shape) == rank else None for kind in ins]
    fits = (size is not None if own else size in (None, 1) for size, own in zip(first, apart, strict=True))
    return op if all(fits) else None


def beside_axis(op: Any, ins: Sequence[RealType], apart: Apart) -> RealOp | None:
    """Of an operator along `axis`."""
    return of_first(op, ins, apart) if op.axis % len(ins[0].shape) else None


def beside_axes(op: Any, ins: Sequence[RealType], apart: Apart) -> RealOp | None:
    """Of an operator over `axes`."""
    return None if 0 in op.axes else of_first(op, ins, apart)
