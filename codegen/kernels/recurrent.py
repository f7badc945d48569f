"""Recurrent: step by step, unit by unit; the hidden states lie in the output, the cell in its last form."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.common import constant_fields, sides
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Recurrent
from codegen.ops.accumulator import needs_int64
from codegen.ops.recurrent import GATES, LEFT_BITS, half_logistic_table
from codegen.records import record

_NAMES = ("input", "weights", "bias", "first_h", "first_c")


@record(kw_only=True)
class RecurrentContext:
    """Sizes, C types and expressions of the inputs, and the function of each part of the cell.

    `per_row`: each row of a gate has factors of its own.
    """

    cell: str
    steps: int
    batch: int
    hidden: int
    reverse: bool
    coupled: bool
    reset_after: bool
    finer: bool
    per_row: bool
    weight_t: str
    x: str
    h: str
    c: str
    functions: tuple[str, ...]
    reach: int

    @property
    def last(self) -> int:
        """The last step."""
        return self.steps - 1

    @property
    def width(self) -> int:
        """Numbers of a step and sequence that come in."""
        return GATES[self.cell] * self.hidden

    @property
    def gate_block(self) -> int:
        """Numbers of a step that come in."""
        return self.batch * self.width

    @property
    def block(self) -> int:
        """Numbers of a step's states."""
        return self.batch * self.hidden

    @property
    def under(self) -> int:
        """Where what is left of a GRU's states begins, behind what a reset leaves of all units."""
        return 0 if self.reset_after else self.hidden

    @property
    def right(self) -> int:
        """By which a share becomes a hidden state."""
        return 16 + self.reach

    @property
    def right_left(self) -> int:
        """By which a share becomes a hidden state and what is left of it."""
        return self.right - LEFT_BITS

    def place(self, gate: int) -> int:
        """The first row of a gate."""
        return gate * self.hidden


def _fit(node: NodeOf[Recurrent]) -> Fit | None:
    op, (_, r, b, *_) = node.op, node.consts
    if r is None or b is None or 0 not in node.dynamic:
        return None
    if needs_int64(r, b, DType.S16.low, DType.S16.high, 0):
        return None
    steps, batch, _ = node.ins[0].shape
    places = sides(node, _NAMES[: len(node.ins)])
    rows = max(len(part) for part in (op.gates.x, op.gates.hidden, op.gates.right))
    context = RecurrentContext(
        cell=op.cell,
        steps=steps,
        batch=batch,
        hidden=r.shape[1],
        reverse=op.reverse,
        coupled=op.coupled,
        reset_after=op.reset_after,
        finer=op.finer,
        per_row=rows > 1,
        weight_t=node.ins[1].dtype.ctype,
        x=places[0][1],
        h=places[3][1],
        c=places[4][1] if op.cell == "lstm" else "",
        functions=op.functions,
        reach=op.reach,
    )
    return Fit(context, _params(node, rows), scratch=_scratch(op, batch, r.shape[1]))


def _params(node: NodeOf[Recurrent], rows: int) -> tuple[Field, ...]:
    op = node.op
    parts = [np.broadcast_to(np.array(p, np.int32), rows) for p in (op.gates.x, op.gates.hidden, op.gates.right)]
    cell = (Field("cell_steps", np.array([*op.update, *op.squash], np.int32), about=_CELL),)
    return (
        *constant_fields(node, _NAMES[: len(node.ins)]),
        Field("factor", np.stack(parts, axis=1).reshape(-1), about=_FACTOR),
        Field("bound", np.array([op.bound], np.int32), about="of what goes into a gate's function"),
        *(cell if op.cell == "lstm" else ()),
        Field("table", np.array(half_logistic_table(), np.uint16), about="logistic less a half"),
    )


_FACTOR = "factor of the input's sum, of the hidden state's, right shift; gate by gate"
_CELL = "multiplier and right shift of what is added, and of what the cell's function takes"


def _scratch(op: Recurrent, batch: int, hidden: int) -> tuple[Scratch, ...]:
    """What a GRU's reset leaves of all units, where products with that follow; what is left of states.

    The latter is that of two steps where products with it follow.
    """
    reset = hidden if op.cell == "gru" and not op.reset_after else 0
    states = (2 if op.cell == "rnn" else 1) * batch * hidden if op.finer else 0
    return (Scratch("left", 2 * (reset + states)),) if reset + states else ()


RECURRENT = Kernel("recurrent", "recurrent.c.j2", "whole", (Recurrent,), _fit, headers=("lam_gates.h", "lam_requant.h"))

KERNELS: tuple[Kernel[Any], ...] = (RECURRENT,)
