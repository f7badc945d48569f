"""Fixed-point functions against float64, and limits of the operators that have TFLite's definition only.

Their bits are compared with TFLite Micro itself in tests/e2e/test_tflite_operators.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from codegen.errors import OperatorLimit
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant, TensorType
from codegen.ops import (
    FUNCTIONS,
    AddN,
    Compare,
    CumulativeSum,
    Div,
    GlobalSum,
    LogSoftmax,
    Lut16,
    Remainder,
    Response,
    Softmax,
    Softmax16,
    SquaredDifference,
    TopK,
    WholeArithmetic,
    check_limits,
    make_requant,
)
from codegen.ops.fixed_functions import exp_on_negative, inverse_sqrt, logarithm, logistic, reciprocal, tanh
from codegen.ops.inverse_sqrt import scaled_inverse_sqrt
from codegen.ops.log_softmax import OUTPUT as LOG_OUTPUT
from codegen.ops.lut16 import lut16
from codegen.ops.sigmoid16 import sigmoid16
from codegen.ops.softmax16 import softmax16

ONE = 2.0**31
SPREAD = np.unique(np.random.default_rng(1).integers(-(2**31), 2**31, 4000, dtype=np.int64))


@pytest.mark.parametrize("bits", [4, 5])
def test_exp(bits: int) -> None:
    raw = -np.abs(SPREAD)
    assert np.abs(exp_on_negative(raw, bits) / ONE - np.exp(raw * 2.0 ** (bits - 31))).max() < 5e-7


def test_reciprocal() -> None:
    raw = np.abs(SPREAD) >> 1
    assert np.abs(reciprocal(raw) / ONE - 1 / (1 + raw / ONE)).max() < 1e-8


def test_logistic_and_tanh() -> None:
    real = SPREAD * 2.0**-27
    assert np.abs(logistic(SPREAD) / ONE - 1 / (1 + np.exp(-real))).max() < 5e-7
    assert np.abs(tanh(SPREAD) / ONE - np.tanh(real)).max() < 5e-7


def test_logarithm() -> None:
    raw = np.maximum(np.abs(SPREAD) >> 1, 1 << 19)
    found = logarithm(raw, 12, 5) * 2.0**-26
    assert np.abs(found - np.log(raw * 2.0**-19)).max() < 1e-6


@pytest.mark.parametrize("value", [1, 2, 3, 7, 100, 255, 65535])
def test_inverse_sqrt(value: int) -> None:
    root, exponent = inverse_sqrt(value)
    assert root / ONE * 2.0**exponent == pytest.approx(value**-0.5, rel=3e-6)


def test_16_bit_curves_are_near_the_real_ones() -> None:
    x, q = Quant(2.0**-12), np.arange(-32768, 32768).astype(np.int16)
    real = q / 2.0**12
    assert np.abs(sigmoid16("logistic", x).golden([q])[0] / 2.0**15 - 1 / (1 + np.exp(-real))).max() < 1e-4
    assert np.abs(sigmoid16("tanh", x).golden([q])[0] / 2.0**15 - np.tanh(real)).max() < 2e-4


def test_16_bit_softmax_is_near_the_real_one() -> None:
    q = np.random.default_rng(2).integers(-32768, 32768, (50, 9)).astype(np.int16)
    powers = np.exp(q * 2.0**-12)
    found = softmax16(Quant(2.0**-12), 1.0).golden([q])[0] / 2.0**15
    assert np.abs(found - powers / powers.sum(axis=1, keepdims=True)).max() < 1e-3


def test_softmax_has_both_forms() -> None:
    q = np.random.default_rng(3).integers(-128, 128, (40, 11)).astype(np.int8)
    powers = np.exp(q * 0.125)
    exact = powers / powers.sum(axis=1, keepdims=True) * 256 - 128
    for y, tflite in ((Quant(2.0**-8, -128), True), (Quant(2.0**-8, -127), False)):
        op = Softmax(Quant(0.125, 3), y, DType.S8, "tflite")
        assert op.is_tflite is tflite
        assert np.abs(op.golden([q])[0] - np.minimum(exact + y.zero_point + 128, 127)).max() <= 1


@pytest.mark.parametrize(
    ("op", "kind", "code"),
    [
        (Softmax(Quant(0.125), Quant(2.0**-8, -128), DType.S8, "tflite"), (DType.S8, (1, 4096)), "ACTIVATION-04"),
        (Softmax16(1 << 30, 15), (DType.S16, (1, 4)), "ACTIVATION-10"),
        (LogSoftmax(Quant(16.0), LOG_OUTPUT, DType.S8, "tflite"), (DType.S8, (1, 4)), "ACTIVATION-13"),
        (
            SquaredDifference(Quant(4.0), Quant(4.0), Quant(2.0**-9), DType.S8, -128, 127),
            (DType.S8, (4,)),
            "ELEMENTWISE-14",
        ),
        (
            GlobalSum(0, make_requant("ort", 1.0, [1.0], Quant(1.0), DType.S8), DType.S8, Quant(1.0)),
            None,
            "REDUCTION-06",
        ),
    ],
)
def test_limits(op: object, kind: tuple[DType, tuple[int, ...]] | None, code: str) -> None:
    dtype, shape = kind or (DType.S8, (1, 3, 3, 2))
    with pytest.raises(OperatorLimit, match=f"LAM-OPS-{code}"):
        check_limits(op, [TensorType(shape, dtype)] * 2)  # type: ignore[arg-type]


def test_functions_of_16_bits_are_real_ones_at_their_samples() -> None:
    """Moved by half the error between two samples, which is small where the function is smooth."""
    x, y = Quant(2.0**-15), Quant(2.0**-13)
    every = np.arange(-32768, 32768, dtype=np.int64)
    for name, real in (("Exp", np.exp), ("Gelu", FUNCTIONS["Gelu"]), ("GeluTanh", FUNCTIONS["GeluTanh"])):
        (found,) = lut16(name, x, y).golden((every.astype(np.int16),))
        assert np.abs(found - real(every * x.scale) / y.scale).max() < 2, name


@pytest.mark.parametrize("scales", [(2.0**-15, 0.006), (0.1, 0.0005), (2.0**-20, 2.0**-16), (2.0**20, 2.0**20)])
def test_inverse_roots_are_the_real_ones_rounded(scales: tuple[float, float]) -> None:
    x, y = (Quant(float(np.float32(scale))) for scale in scales)
    some = np.array([-32768, -1, 0, *range(1, 40), *range(40, 32768, 311), 32767])
    (found,) = scaled_inverse_sqrt(x, y).golden((some.astype(np.int16),))
    real = np.minimum((np.maximum(some, 1) * x.scale) ** -0.5 / y.scale, 32767)
    assert (found[some <= 0] == 32767).all()
    assert np.abs(found - real)[some > 0].max() < 0.6


def test_the_logarithm_of_nothing_is_the_lowest_number() -> None:
    (found,) = lut16("Log", Quant(2.0**-10), Quant(2.0**-10)).golden((np.array([-32768, -200, 128, 32640], np.int16),))
    assert found[0] == found[1] == -32768
    assert np.abs(found[3] - np.log(32640 * 2.0**-10) * 2**10) < 1


def test_steps_of_more_than_16_bits_wrap() -> None:
    op = Lut16((-32768, 32767) + (0,) * 511, Quant(1.0), "Jump")
    (found,) = op.golden((np.arange(-32768, -32640, dtype=np.int16),))
    step = 65535 - 65536
    assert found.tolist() == [((-32768 + ((step * i + 64) >> 7)) + 32768) % 65536 - 32768 for i in range(128)]


def test_of_equal_numbers_the_first_goes_before() -> None:
    x = np.array([[3, 7, -128, 7, 127, 3]], np.int8)
    assert TopK(4, True).golden([x])[0].tolist() == [[4, 1, 3, 0]]
    assert TopK(6, False).golden([x])[0].tolist() == [[127, 7, 7, 3, 3, -128]]


def test_whole_numbers_wrap_around_and_every_division_has_a_result() -> None:
    ends = np.array([-(2**31), -7, -1, 0, 1, 7, 2**31 - 1], np.int32)
    for operation in ("+", "-", "*", "/", "//", "%"):
        (found,) = WholeArithmetic(operation).golden((ends[:, None], ends[None]))
        wanted = [[_whole(operation, int(a), int(b)) for b in ends] for a in ends]
        assert found.tolist() == wanted, operation


def test_powers_wrap_around_and_those_below_0_are_quotients() -> None:
    ends = np.array([-(2**31), -7, -2, -1, 0, 1, 2, 7, 31, 2**31 - 1], np.int32)
    (found,) = WholeArithmetic("power").golden((ends[:, None], ends[None]))

    def wanted(a: int, b: int) -> int:
        if b < 0:
            return _whole("/", 1, a ** (-b & 1)) if abs(a) < 2 else 0
        return (pow(a, b, 2**32) + 2**31) % 2**32 - 2**31

    assert found.tolist() == [[wanted(int(a), int(b)) if a or b >= 0 else 2**31 - 1 for b in ends] for a in ends]


def test_roots_are_rounded_down_exactly() -> None:
    """Of numbers around squares, which float64 cannot tell apart, and of those that have none."""
    roots = np.random.default_rng(2).integers(1, 2**15, 500, dtype=np.int64)
    near = np.unique(np.concatenate([roots**2 - 1, roots**2, roots**2 + 1, [0, 2**31 - 1, -1, -(2**31)]]))
    bits = np.array([-1, 0, 1, 15, 29, 30, 31, 2**31 - 1])
    (found,) = WholeArithmetic("root").golden((near.astype(np.int32)[:, None], bits.astype(np.int32)[None]))
    wanted = [[math.isqrt(int(a) << int(b)) if a >= 0 and 0 <= b <= 30 else 0 for b in bits] for a in near]
    assert found.tolist() == wanted


def test_logarithms_are_within_their_bound_of_every_size() -> None:
    """Also plus what wraps around; what has no logarithm is the lowest number."""
    large = np.rint(2 ** np.linspace(11, 31, 20000)) - 1
    sizes = np.unique(np.concatenate([np.arange(1, 3000), large])).astype(np.int64)
    (found,) = WholeArithmetic("log").golden((sizes.astype(np.int32), np.zeros(1, np.int32)))
    assert np.abs(found / 2.0**24 - np.log(sizes)).max() < 2.0**-22
    (none,) = WholeArithmetic("log").golden((np.array([0, -1, -(2**31)], np.int32), np.array([5], np.int32)))
    assert none.tolist() == [-(2**31)] * 3
    (moved,) = WholeArithmetic("log").golden((sizes[-1:].astype(np.int32), np.array([2**31 - 1], np.int32)))
    assert int(moved[0]) == int(found[-1]) - 2**31 - 1


def _whole(operation: str, a: int, b: int) -> int:
    """Exact numbers of Python, brought to 32 bits at the end."""
    if b == 0 and operation in ("/", "//"):
        return 2**31 - 1 if a > 0 else -(2**31) if a < 0 else 0
    if operation == "/":
        exact = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    elif b == 0 and operation == "%":
        exact = 0
    else:
        exact = {"+": a + b, "-": a - b, "*": a * b, "//": a // (b or 1), "%": a % (b or 1)}[operation]
    return (exact + 2**31) % 2**32 - 2**31


def test_quotients_are_the_real_ones_wherever_tflite_leaves_them_open() -> None:
    """A shift past 31 gives 0, a divisor of 0 an end of the range, for every pair of numbers."""
    every = np.arange(-128, 128, dtype=np.int8)
    op = Div(Quant(0.5, -7), Quant(0.25, 20), Quant(0.125, 3), -128, 127)
    (found,) = op.golden((every[:, None], every[None]))
    n, d = np.broadcast_arrays((every[:, None] + 7.0) * 0.5, (every[None] - 20.0) * 0.25)
    real = np.divide(n, d, where=d != 0, out=np.sign(n) * 1e9) / 0.125
    assert np.abs(np.clip(real + 3, -128, 127) - found).max() <= 0.5 + 1e-6


@pytest.mark.parametrize(("kind", "step"), [(DType.U8, 2.0**-3), (DType.S16, 2.0**-15), (DType.S16, 0.375)])
def test_quotients_of_other_types_are_the_real_ones_rounded(kind: DType, step: float) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(kind.low, kind.high + 1, 200_000).astype(kind.numpy) for _ in range(2))
    op = Div(Quant(0.5, 7), Quant(0.75, 20), Quant(step, 3), kind.low, kind.high, kind)
    (found,) = op.golden((a, b))
    n, d = (a.astype(np.float64) - 7) * 0.5, (b.astype(np.float64) - 20) * 0.75
    real = np.divide(n, d, where=d != 0, out=np.sign(n) * 1e9) / step
    assert np.abs(np.clip(real + 3, kind.low, kind.high) - found).max() <= 0.5 + 1e-3


S8, S16, S32 = (TensorType((4,), kind, Quant(1.0)) for kind in (DType.S8, DType.S16, DType.S32))
REFUSED: dict[str, tuple[Op, tuple[TensorType, ...]]] = {
    "LAM-OPS-REDUCTION-09": (AddN(Quant(1.0), Quant(1.0), -128, 127), (S8, S16)),
    "LAM-OPS-REDUCTION-10": (AddN(Quant(1.0), Quant(1.0), -128, 127), (S8,) * 16),
    "LAM-OPS-REDUCTION-11": (AddN(Quant(2.0**19), Quant(1.0), -128, 127), (S8, S8)),
    "LAM-OPS-LOGIC-01": (Compare("<", Quant(1.0), Quant(1.0)), (S16, S8)),
    "LAM-OPS-LOGIC-02": (Compare("<", Quant(1.0), Quant(2.0**14)), (S8, S8)),
    "LAM-OPS-LOGIC-10": (Compare("<", Quant(1.0), Quant(2.0**21), exact=True), (S16, S16)),
    "LAM-OPS-LOGIC-02 of 16 bits": (Compare("==", Quant(1.0), Quant(2.0**7)), (S16, S16)),
    "LAM-OPS-ELEMENTWISE-07": (Div(Quant(1.0), Quant(1.0), Quant(1.0), -128, 127), (S8, S32)),
    "LAM-OPS-ELEMENTWISE-08": (Div(Quant(2.0**11), Quant(2.0**-11), Quant(1.0), -128, 127), (S8, S8)),
    "LAM-OPS-ELEMENTWISE-19": (WholeArithmetic("+"), (S8, S8)),
    "LAM-OPS-ELEMENTWISE-22": (Remainder(Quant(1.0), Quant(0.75), 0), (S8, S32)),
    "LAM-OPS-ELEMENTWISE-23": (Remainder(Quant(2.0**58), Quant(0.75), 20), (S8, S8)),
    "LAM-OPS-ELEMENTWISE-24": (Remainder(Quant(2.0**28), Quant(2.0**27 + 16), 0), (S16, S16)),
    "LAM-OPS-ELEMENTWISE-25": (Response(Quant(1.0), 0.75, 9, 1.0, Quant(1.0), DType.S16, -9, 9), (S16, S16)),
    "LAM-OPS-ELEMENTWISE-26": (Response(Quant(2.0**40), 0.75, 9, 1.0, Quant(1.0), DType.S16, -9, 9), (S16, S32)),
    "LAM-OPS-REDUCTION-01": (CumulativeSum(0, Quant(2.0**19), Quant(1.0), -128, 127), (S8,)),
    "LAM-OPS-ACTIVATION-20": (scaled_inverse_sqrt(Quant(1.0), Quant(1.0)), (S8,)),
    "LAM-OPS-ACTIVATION-19": (lut16("Exp", Quant(1.0), Quant(1.0)), (S8,)),
}


@pytest.mark.parametrize("code", REFUSED)
def test_sums_quotients_and_comparisons_beyond_their_numbers_are_refused(code: str) -> None:
    with pytest.raises(OperatorLimit, match=code.split()[0]):
        check_limits(*REFUSED[code])
