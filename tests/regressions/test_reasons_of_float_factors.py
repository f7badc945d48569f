"""Reasons for what a layer takes are sought among layers of more channels: of factors that are float32 these had none.

`profile --requant ort` ended in an AttributeError for convolutions of few channels by weights of 4 bits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.op import NodeOf
from codegen.ir.quant import DType, TensorType
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.ops import Conv2D
from codegen.report.otherwise import otherwise
from tests.contract.case import requant


def test_other_layers_of_float_factors_have_forms() -> None:
    same = Window(3, 1, 1, 1, 1)
    op = Conv2D(same, same, 1, 0, requant("ort", 4000, 16), DType.S8, None)
    weights = np.random.default_rng(1).integers(-8, 8, (16, 3, 3, 16)).astype(np.int8)
    kinds = TensorType((1, 8, 8, 16), DType.S8), TensorType(weights.shape, DType.S8), TensorType((16,), DType.S32)
    ins = (kinds[0], replace(kinds[1], bits=4), kinds[2])
    view = NodeOf("layer", op, ins, (kinds[0],), (None, weights, np.zeros(16, np.int32)))
    others = [find_form(other, "armv7em") for _, other in otherwise(view)]
    assert others
    assert all(others)
