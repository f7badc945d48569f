"""Sums and differences of two 8-bit tensors of one shape, by the numbers of plane.py, some elements per turn.

What is broadcast, or has no such numbers, is left to binary.py.
"""

from __future__ import annotations

from codegen.ir.form import Told
from codegen.ir.op import NodeOf
from codegen.kernels.blocked.cores import OTHERS
from codegen.kernels.common import channels, range_field
from codegen.kernels.fast import fast_headers, saturation
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.plane import plane_of
from codegen.kernels.weighted import BYTES
from codegen.ops import Add
from codegen.records import record

_PER_TURN = 4


@record
class AddContext:
    """Literals of one sum: types of elements, what the output saturates to (empty: its bounds are parameters)."""

    a_t: str
    b_t: str
    y_t: str
    saturate: str
    channels: int
    per_turn: int

    @property
    def told(self) -> Told:
        """The number of elements, which is asked for once."""
        return Told(("channels",), row=1.0)

    @property
    def rest(self) -> int:
        """Elements of a pixel that are left over of whole turns."""
        return self.channels % self.per_turn


def _fit(node: NodeOf[Add]) -> Fit | None:
    op, (a, b), y = node.op, node.ins, node.outs[0]
    if node.dynamic != (0, 1) or any(t.dtype not in BYTES for t in (a, b, y)):
        return None
    plane = plane_of(op, a.dtype, b.dtype) if a.shape == b.shape == y.shape else None
    if plane is None:
        return None
    saturate = saturation(op.low, op.high)
    params = (plane.field,) if saturate else (plane.field, range_field(0, op.low, op.high))
    context = AddContext(a.dtype.ctype, b.dtype.ctype, op.y_dtype.ctype, saturate, channels(y.shape), _PER_TURN)
    why = f"{_PER_TURN} elements per turn, two products, one shift"
    return Fit(context, params, why=why, headers=fast_headers(saturate) if saturate else ("lam_requant.h",))


BLOCKED_ADD = Kernel("blocked_add", "blocked/add.c.j2", "pixels", (Add,), _fit, without=OTHERS)
