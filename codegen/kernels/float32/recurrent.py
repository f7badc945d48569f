"""FloatRecurrent: step by step, unit by unit; the states lie in the output."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Sums
from codegen.kernels.common import constant_fields
from codegen.kernels.float32.common import sum_header
from codegen.kernels.float32.functions import function_headers
from codegen.kernels.float32.stored import Stored, stored_of
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops.float32 import FloatRecurrent
from codegen.ops.float32.recurrent import GATES, STATES
from codegen.records import record

_NAMES = ("input", "weights", "bias", "first_h", "first_c", "cell_weights")
_WEIGHTS = (1, 2, 5)


@record(kw_only=True)
class RecurrentContext:
    """Sizes, expressions of the inputs, and what is done to a gate `v` in C.

    `computed`: names and expressions of weights and biases that are no parameters.
    """

    cell: str
    steps: int
    batch: int
    hidden: int
    gates: int
    width: int
    reverse: bool
    coupled: bool
    reset_after: bool
    peepholes: bool
    x: str
    h: str
    c: str
    computed: tuple[tuple[str, str], ...]
    functions: tuple[str, ...]
    bounded: str
    sums: Sums
    stored: Stored

    @property
    def last(self) -> int:
        """The last step."""
        return self.steps - 1

    @property
    def block(self) -> int:
        """Elements of a step's output."""
        return self.batch * self.width

    @property
    def gate_block(self) -> int:
        """Elements of a step's input."""
        return self.batch * self.gates * self.hidden

    @property
    def gate_width(self) -> int:
        """Elements of one entry of the batch in a step's input."""
        return self.gates * self.hidden

    def place(self, times: int) -> int:
        """Elements from a unit's first number to another one."""
        return times * self.hidden

    @property
    def row(self) -> int:
        """Elements of the weights of one unit's gate."""
        return self.stored.elements(self.hidden)

    def rows(self, gate: int) -> int:
        """Those from the first gate to another one."""
        return gate * self.hidden * self.row


def _fit(node: NodeOf[FloatRecurrent]) -> Fit | None:
    op, (steps, batch, width) = node.op, node.outs[0].shape
    if not node.dynamic:
        return None
    stored = stored_of(node)
    numbers = [n for _, given in op.functions for n in given] + ([op.bound] if np.isfinite(op.bound) else [])
    context = RecurrentContext(
        cell=op.cell,
        steps=steps,
        batch=batch,
        hidden=width // STATES[op.cell],
        gates=GATES[op.cell],
        width=width,
        reverse=op.reverse,
        coupled=op.coupled,
        reset_after=op.reset_after,
        peepholes=op.peepholes,
        x=_side(node, 0),
        h=_side(node, 3),
        c=_side(node, 4) if op.cell == "lstm" else "",
        computed=tuple((_NAMES[i], _side(node, i)) for i in node.dynamic if i in _WEIGHTS),
        functions=_calls(op),
        bounded=f"lam_f32_clip(v, -number[{len(numbers) - 1}], number[{len(numbers) - 1}])" if _is_bounded(op) else "v",
        sums=op.sums,
        stored=stored,
    )
    params = tuple(f for f in constant_fields(node, _NAMES[: len(node.ins)]) if f.name != "weights")
    if node.consts[1] is not None:
        params += stored.fields_of(np.asarray(node.consts[1]), lambda weights: [weights])
    params += (Field("number", np.array(numbers, np.float32)),) if numbers else ()
    products = [] if op.sums == "fused" and op.cell == "rnn" else ["product"]
    names = [name for name, _ in op.functions] + products + (["clip"] if _is_bounded(op) else [])
    headers = {h for name in names for h in function_headers(name)} | {sum_header(op), *stored.headers}
    return Fit(context, params, why=f"plain C99{stored.said}", headers=tuple(sorted(headers)))


def _is_bounded(op: FloatRecurrent) -> bool:
    return bool(np.isfinite(op.bound))


def _calls(op: FloatRecurrent) -> tuple[str, ...]:
    """The call of each function on v, whose numbers lie one behind the other."""
    made, at = list[str](), 0
    for name, given in op.functions:
        more = "".join(f", number[{at + i}]" for i in range(len(given)))
        made.append(f"lam_f32_{name}(v{more})")
        at += len(given)
    return tuple(made)


def _side(node: NodeOf[FloatRecurrent], index: int) -> str:
    return f"rows[{node.dynamic.index(index)}]" if index in node.dynamic else _NAMES[index]


RECURRENT = Kernel("float_recurrent", "float32/recurrent.c.j2", "whole", (FloatRecurrent,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (RECURRENT,)
