"""Random models of one operator with a state, and the same numbers as our operator and its constants.

What TFLite Micro makes of a sequence of inputs is compared with the operator's steps in
tests/unit/ops/test_recurrent.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.frontends.tflite.scales import svdf_requant
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant
from codegen.ops import Svdf
from tests.tflite_cases import Case, Draw


@dataclass(frozen=True)
class Recurrent:
    """A case, and what it should be: `op` on an input, `constants` and `states`; it gives the next states last."""

    case: Case
    op: Op
    constants: tuple[Array, ...]
    states: tuple[Array, ...]

    def run(self) -> list[Array]:
        """The first output of each step, from the first states on."""
        found, states = [], self.states
        for inputs in self.case.inputs:
            first, *states = self.op.golden([*inputs, *self.constants, *states])
            found.append(first)
        return found


def svdf(d: Draw, state_kind: str, *, most: int = 6) -> Recurrent:
    """An SVDF with a state of this type; sizes up to `most`."""
    batch, inputs, units, rank, memory = d.size(1, 3), *(d.size(1, most) for _ in range(4))
    filters = units * rank
    wide = state_kind == "int16"
    zero = 0 if wide else int(d.pick(-128, 127, 0, d.size(-128, 127)))
    scales = {"wf": d.scale(0.002, 0.05), "wt": d.scale(0.002, 0.05) / (256 if wide else 1)}
    x_scale, y_scale = d.scale(), d.scale(0.02, 0.5)
    # a feature of full size is of the order of the state's range
    state_scale = float(np.float32(x_scale * scales["wf"] * np.sqrt(inputs) * 5e3 / (32768 if wide else 128)))
    state_scale *= float(d.rng.uniform(0.3, 3))
    wf, wt = d.ints((filters, inputs), "int8"), d.ints((filters, memory), state_kind)
    b = d.rng.integers(-(10**6), 10**6, units).astype(np.int32)
    x = d.x((batch, inputs), x_scale)
    state = d.tensor((batch, filters * memory), state_kind, state_scale, zero, variable=True)
    places = [d.const(wf, scales["wf"]), d.const(wt, scales["wt"]), d.const(b, np.float32(state_scale) * scales["wt"])]
    y = d.y((batch, units), y_scale)
    d.op("SVDF", [x, *places, state], [y], "SVDFOptions", Rank=rank, FusedActivationFunction=int(d.pick(0, 1)))
    meant, kind = Quant(*d.meaning(state)), {"int8": DType.S8, "int16": DType.S16}[state_kind]
    (xs, xz), (fs, _), (ts, _), result = (d.meaning(p) for p in (x, *places[:2], y))
    feature = svdf_requant(xs, fs, Quant(meant.scale), kind)
    requant = svdf_requant(meant.scale, ts, Quant(*result), DType.S8)
    op = Svdf(xz, zero, feature, requant, Quant(*result))
    first = np.full((batch, filters * memory), zero, state_kind)
    return Recurrent(d.case(12), op, (wf, wt, b), (first,))
