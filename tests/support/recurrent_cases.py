"""Random models of one operator with a state, and the same numbers as our operator and its constants.

What TFLite Micro makes of a sequence of inputs is compared with the operator's steps in
tests/unit/ops/test_recurrent.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ops import Lstm, Svdf
from codegen.ops.lstm import GATE, Gate, squash
from codegen.ops.sigmoid16 import OUTPUT
from codegen.settle.tflite.scales import gate_product, product_requant, svdf_requant
from tests.support.tflite_cases import Draw, Drawn


@dataclass(frozen=True)
class Recurrent:
    """A case, and what it should be: `op` on an input, `constants` and `states`; it gives the next states last."""

    case: Drawn
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
    return Recurrent(d.case(12), op, (wf, wt, b), _zeros(d, state))


TANH = 4


def lstm(d: Draw, *, most: int = 5) -> Recurrent:
    """An LSTM of the draw's type of activations; sizes up to `most`."""
    batch, steps, inputs, size = d.size(1, 3), d.size(1, 4), d.size(1, most), d.size(1, most)
    time_major, wide = d.flag(), d.kind == "int16"
    x_scale, y_scale = d.scale(0.01, 0.1), float(np.float32(1 / 32768 if wide else 1 / 128))
    y_scale = float(np.float32(y_scale * d.rng.uniform(0.4, 1.1)))
    cell_scale, clip = 2.0 ** -d.size(9, 16), float(d.pick(0.0, 0.0, d.rng.uniform(0.05, 3)))
    ws, rs = ([d.scale(0.002, 0.03) * (200 if wide else 1) for _ in range(4)] for _ in range(2))
    w, r = d.ints((4, size, inputs), "int8"), d.ints((4, size, size), "int8")
    b = d.rng.integers(-3000, 3000, (4, size)).astype(np.int64 if wide else np.int32)
    lead = (steps, batch) if time_major else (batch, steps)
    x = d.x((*lead, inputs), x_scale)
    hidden_zero = d.zero()
    hidden = d.tensor((batch, size), d.kind, y_scale, hidden_zero, variable=True)
    cell = d.tensor((batch, size), "int16", cell_scale, 0, variable=True)
    y = d.y((*lead, size), y_scale, hidden_zero)
    weights = [d.const(m, s) for m, s in zip((*w, *r), (*ws, *rs), strict=True)]
    biases = [d.const(m, np.float32(x_scale) * np.float32(s)) for m, s in zip(b, ws, strict=True)]
    none = -1
    places = [x, *weights, none, none, none, *biases, none, none, hidden, cell, none, none, none, none]
    options = {"FusedActivationFunction": TANH, "CellClip": clip, "TimeMajor": time_major}
    between = [d.tensor((0,), "int16", 2.0**-12) for _ in range(4)] if d.flag() else []
    d.op(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        places,
        [y],
        "UnidirectionalSequenceLSTMOptions",
        intermediates=between,
        **options,
    )
    return Recurrent(
        d.case(5), _lstm(d, x, y, cell, weights, options), (w, r, b.astype(np.int32)), _zeros(d, hidden, cell)
    )


def _lstm(d: Draw, x: int, y: int, cell: int, weights: list[int], options: dict[str, float]) -> Lstm:
    wide = d.kind == "int16"
    kind = DType.S16 if wide else DType.S8
    (xs, xz), result, (cs, _) = (d.meaning(p) for p in (x, y, cell))
    scales = [d.meaning(p)[0] for p in weights]
    bounds = (-32768, 32767)

    def summed(x_scale: float, w_scale: float) -> Requant:
        return product_requant("tflite", x_scale, w_scale, GATE, DType.S16, bounds, wide=wide)

    gates = [Gate(summed(xs, scales[g]), summed(result[0], scales[4 + g])) for g in range(4)]
    clip = int(min(options["CellClip"] / cs, 32767.0)) if options["CellClip"] else None
    products = [gate_product(OUTPUT.scale, s, Quant(cs), DType.S16) for s in (cs, OUTPUT.scale)]
    end = gate_product(OUTPUT.scale, OUTPUT.scale, Quant(*result), kind)
    return Lstm(bool(options["TimeMajor"]), xz, tuple(gates), *products, clip, squash(cs), end, Quant(*result))


def _zeros(d: Draw, *places: int) -> tuple[Array, ...]:
    """Tensors full of their zero points."""
    specs = [d.graph.tensors[p] for p in places]
    return tuple(np.full(s.shape, s.zero[0], s.kind) for s in specs)
