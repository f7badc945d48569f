"""A dilated window passes over rows that it does not read: those need not be there for it."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import DType, Quant
from codegen.ir.shape import Window
from codegen.ops import Conv2D
from codegen.pipeline import Options, compile_graph
from codegen.target import load_target
from tests.support.graphs import Sketch, random_array, spread_requant

TAPS = Window(7, 1, 3, 17, 1)
"""Output row 9 reads the rows 1, 4, 7 and 10, and passes over row 0, of which row 10 may take the place in a ring."""


@pytest.mark.parametrize("target", ["host", "generic"])
def test_rows_between_the_taps_may_be_gone(target: str) -> None:
    s = Sketch("taps")
    quant = Quant(0.5, -3)
    x = s.input((1, 11, 6, 4), quant=quant)
    weights = random_array(s.rng, (4, 7, 3, 4), DType.S8)
    requant = spread_requant("single", weights, DType.S8, -3)
    op = Conv2D(TAPS, Window(3, 1, 1, 1, 1), 1, -3, requant, DType.S8, quant)
    y = s.apply(op, x, s.const(weights), s.const(np.zeros(4, np.int32)))
    made = compile_graph(s.graph(y), load_target(target), Options(stream_input=True))
    place = made.plan.storage["x"]
    assert place.ring < place.rows
