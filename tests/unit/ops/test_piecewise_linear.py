from bisect import bisect_right

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit, OperatorLimit
from codegen.ir.quant import DType, Quant, TensorType
from codegen.ops import FUNCTIONS, PiecewiseLinear, check_limits, piecewise_linear
from tests.unit.ops import plain

ALL = np.arange(-32768, 32768)
X, Y = Quant(float(np.float32(3e-4)), 1234), Quant(float(np.float32(2e-4)), -5)


def plain_pieces(op: PiecewiseLinear, x: int) -> int:
    """The module's definition in Python integers."""
    knot, value, slope = op.pieces[bisect_right([p[0] for p in op.pieces], x) - 1]
    total = slope * (x - knot) + (value << 9) + (1 << 23)
    assert abs(total) < 2**63
    return plain.clamp(total >> 24, op.y_dtype.low, op.y_dtype.high)


@pytest.mark.parametrize("name", ["Sigmoid", "HardSwish", "Exp", "Sign", "Round", "Log"])
@pytest.mark.parametrize("dtype", [DType.S8, DType.U8, DType.S16])
def test_pieces_are_the_function_rounded_within_one_step(name: str, dtype: DType) -> None:
    op = piecewise_linear(FUNCTIONS[name], name, X, Y, dtype)
    with np.errstate(all="ignore"):
        real = FUNCTIONS[name](X.scale * (ALL - X.zero_point))
    exact = np.clip(np.nan_to_num(real / Y.scale, posinf=1e9, neginf=-1e9) + Y.zero_point, dtype.low, dtype.high)
    (y,) = op.golden([ALL.astype(np.int16)])
    assert y.dtype == dtype.numpy
    assert np.abs(y - exact).max() <= 0.5 + 1 / 8 + 0.01
    picks = [*ALL[:: 1 << 10].tolist(), 32767]
    assert y[[q + 32768 for q in picks]].tolist() == [plain_pieces(op, q) for q in picks]


def test_pieces_of_one_function_between_the_same_scales_are_found_once() -> None:
    first, other, again = (piecewise_linear(FUNCTIONS[n], n, X, Y, DType.S16) for n in ("Sigmoid", "Exp", "Sigmoid"))
    assert again.pieces is first.pieces
    assert other.pieces != first.pieces
    assert piecewise_linear(FUNCTIONS["Sigmoid"], "Sigmoid", X, Quant(X.scale), DType.S16).pieces != first.pieces


def test_straight_functions_take_one_piece_each() -> None:
    assert len(piecewise_linear(lambda x: -x, "Neg", X, Quant(1.0), DType.S16).pieces) == 1
    hard = piecewise_linear(FUNCTIONS["HardSigmoid"], "HardSigmoid", X, Quant(2.0**-15), DType.S16)
    assert len(hard.pieces) == 3


def test_wild_function_is_refused_before_its_table_is_huge() -> None:
    op = piecewise_linear(lambda x: np.sin(1e5 * x), "Sin", X, Quant(2.0**-15), DType.S16)
    assert len(op.pieces) == 4097
    with pytest.raises(OperatorLimit, match="LAM-OPS-ACTIVATION-17"):
        check_limits(op, [TensorType((4,), DType.S16)])


def test_bytes_and_missing_first_knots_are_refused() -> None:
    op = PiecewiseLinear(((-32768, 0, 0),), DType.S8, Y, "nothing")
    with pytest.raises(OperatorLimit, match="LAM-OPS-ACTIVATION-16"):
        check_limits(op, [TensorType((4,), DType.S8)])
    with pytest.raises(InputsDoNotFit):
        PiecewiseLinear(((0, 0, 0),), DType.S8, Y, "nothing").infer([TensorType((4,), DType.S16)])
