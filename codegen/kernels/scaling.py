"""How sums become outputs, where a kernel has more than one way: what templates are told, bias and factors."""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import Array
from codegen.kernels.common import range_field, requant_context
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant, saturation
from codegen.kernels.lined import Line, line_fields, line_of
from codegen.kernels.weighted import FOLDED, Weighted
from codegen.records import record

_INT32_MAX = (1 << 31) - 1


@record(eq=False)
class Scaling:
    """How a layer's sums become outputs: what the template needs to know, the bias and the factors."""

    rq: FastRequant
    bias: Field
    numbers: tuple[Field, ...]

    @property
    def said(self) -> str:
        """What is said of it beside the form's name."""
        return ", outputs by one product and one sum" if self.rq.form == "lined" else ""


def plain_scaling(sums: Weighted) -> Scaling:
    """The form that takes no more parameters than any."""
    requant = sums.op.requant
    numbers = fast_fields(requant, sums.reach, len(sums.weights))
    return Scaling(fast_requant(requant, sums.reach), sums.bias_field(), numbers)


def lined_scaling(sums: Weighted) -> Scaling | None:
    """The form of one product and one sum, which takes three bytes more for each factor, if there is one."""
    requant = sums.op.requant
    line = None if requant is None or sums.bits or sums.shift is not None else line_of(requant, sums.reach)
    if requant is None or line is None or not _stays_in_32_bits(sums, line):
        return None
    rq = FastRequant("lined", requant.per_channel, saturation(requant.low, requant.high), requant_context(requant))
    bounds = (range_field(requant.zero_point, requant.low, requant.high),) if not rq.saturate else ()
    about = f"{FOLDED} and what lam_lined asks for"
    bias = Field.later("bias", np.int32, len(sums.weights), lambda: _shifted(sums, line).astype(np.int32), about)
    return Scaling(rq, bias, (*line_fields(requant, line, "lam_lined"), *bounds))


def _shifted(sums: Weighted, line: Line) -> Array:
    return sums.folded.astype(np.int64) + line.offset


def _stays_in_32_bits(sums: Weighted, line: Line) -> bool:
    """Whether every partial sum does with the offset in its bias."""
    taps = np.abs(sums.weights.reshape(len(sums.weights), -1).astype(np.int64)).sum(axis=1)
    most = np.abs(_shifted(sums, line)) + taps * max(abs(sums.x.low), sums.x.high)
    return bool(most.max() <= _INT32_MAX)
