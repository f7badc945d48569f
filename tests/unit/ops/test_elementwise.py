import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit, OperatorLimit
from codegen.ir.op import SAME_ROW, RowRule
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, TensorType
from codegen.ops import Add, Clamp, Mul, check_limits, make_requant
from codegen.ops.add import dequantized_table, shared_shift, tflite_scalings
from tests.unit.ops import plain

F32 = np.float32
ALL_S8 = np.arange(-128, 128, dtype=np.int8)


def quant(scale: float, zero_point: int) -> Quant:
    return Quant(float(F32(scale)), zero_point)


QUANTS = (
    (quant(0.1, 3), quant(0.07, -20), quant(0.11, 5)),
    (quant(0.5, -128), quant(0.5, 127), quant(1.0, 0)),
    (quant(1e-3, 0), quant(2.0, 1), quant(0.9, -1)),
    (quant(3.0, 100), quant(1e-4, 0), quant(0.02, -90)),
    (quant(1e-4, 0), quant(1e-4, 0), quant(7.0, 4)),
)


def plain_add(op: Add, a: int, b: int) -> int:
    """The module's formulas, written out in Python integers and float32 scalars."""
    qa, qb = a - op.a.zero_point, b - op.b.zero_point
    y = op.y_quant
    if op.mode == "single":
        ma, mb, s = shared_shift(op.a, op.b, y)
        acc = ma * qa + op.sign * mb * qb + (1 << (s - 1))
        assert -(2**31) <= acc < 2**31
        return plain.clamp(y.zero_point + (acc >> s), op.low, op.high)
    if op.mode == "tflite":
        (ma, ea), (mb, eb), (my, ey) = tflite_scalings(op.a, op.b, y, 20)
        first, second = plain.tflite_multiply(qa << 20, ma, ea), plain.tflite_multiply(qb << 20, mb, eb)
        total = plain.tflite_multiply(first + op.sign * second, my, ey)
        return plain.clamp(total + y.zero_point, op.low, op.high)
    fa, fb = plain.dequantize(a, op.a), plain.dequantize(b, op.b)
    return plain.quantize(fa + fb if op.sign > 0 else fa - fb, y.scale, y.zero_point, op.low, op.high)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("quants", QUANTS)
def test_add_equals_the_formula_on_all_pairs(mode: Mode, sign: int, quants: tuple[Quant, Quant, Quant]) -> None:
    op = Add(*quants, DType.S8, -120, 125, mode, sign)
    (y,) = op.golden([ALL_S8[:, None], ALL_S8[None, :]])
    picks = [*range(0, 256, 17), 127, 128]
    for i, j in itertools.product(picks, picks):
        assert y[i, j] == plain_add(op, int(ALL_S8[i]), int(ALL_S8[j]))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("quants", QUANTS)
def test_float_add_is_dequantize_add_quantize(sign: int, quants: tuple[Quant, Quant, Quant]) -> None:
    a, b, y = quants
    (result,) = Add(a, b, y, DType.S8, -128, 127, "ort", sign).golden([ALL_S8[:, None], ALL_S8[None, :]])
    fa = (ALL_S8.astype(np.int32) - a.zero_point).astype(F32) * F32(a.scale)
    fb = (ALL_S8.astype(np.int32) - b.zero_point).astype(F32) * F32(b.scale)
    total = fa[:, None] + F32(sign) * fb[None, :]
    expected = np.clip(np.rint(total / F32(y.scale)) + y.zero_point, -128, 127)
    assert np.array_equal(result, expected)
    assert np.array_equal(dequantized_table(a, DType.S8), fa)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("quants", QUANTS)
def test_add_is_within_one_step_of_real_arithmetic(mode: Mode, quants: tuple[Quant, Quant, Quant]) -> None:
    a, b, y = quants
    (result,) = Add(a, b, y, DType.S8, -128, 127, mode).golden([ALL_S8[:, None], ALL_S8[None, :]])
    q = ALL_S8.astype(np.float64)
    real = (a.scale * (q - a.zero_point))[:, None] + (b.scale * (q - b.zero_point))[None, :]
    assert np.abs(np.clip(real / y.scale + y.zero_point, -128, 127) - result).max() <= 0.51


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("zeros", [(0, 0, 0), (-32768, 32767, -20000)])
def test_sum_of_words_is_within_one_step_of_real_arithmetic(mode: Mode, sign: int, zeros: tuple[int, int, int]) -> None:
    a, b, y = (Quant(float(F32(s)), z) for s, z in zip((3e-4, 1.7e-4, 5e-4), zeros, strict=True))
    q = np.concatenate([np.arange(-32768, 32768, 127), [32767]])
    ins = q[:, None].astype(np.int16), q[None, :].astype(np.int16)
    (result,) = Add(a, b, y, DType.S16, -32768, 32767, mode, sign).golden(ins)
    real = a.scale * (q - a.zero_point)[:, None] + sign * b.scale * (q - b.zero_point)[None, :]
    error = np.abs(np.clip(real / y.scale + y.zero_point, -32768, 32767) - result).max()
    assert error <= {"single": 0.501, "tflite": 1.01, "ort": 0.52}[mode]


def test_sum_of_words_in_mode_single_is_one_rounding_of_integers() -> None:
    a, b, y = (Quant(float(F32(s)), z) for s, z in ((3e-4, -32768), (1.7e-4, 32767), (5e-4, -20000)))
    op = Add(a, b, y, DType.S16, -30000, 30000, "single", -1)
    ma, mb, s = op.single_steps((DType.S16, DType.S16))
    assert 2**30 <= max(ma, mb) < 2**31
    for qa, qb in itertools.product((-32768, -1, 0, 777, 32767), repeat=2):
        acc = ma * (qa - a.zero_point) - mb * (qb - b.zero_point)
        expected = plain.clamp(y.zero_point + plain.half_up(Fraction(acc, 2**s)), -30000, 30000)
        assert op.golden([np.array([qa], np.int16), np.array([qb], np.int16)])[0].tolist() == [expected]


def test_bytes_and_words_are_not_added_in_mode_tflite() -> None:
    byte, word = TensorType((4,), DType.S8), TensorType((4,), DType.S16)
    for ins, dtype in (((byte, word), DType.S16), ((word, word), DType.S8)):
        op = Add(Quant(1.0), Quant(1.0), Quant(1.0), dtype, dtype.low, dtype.high, "tflite")
        with pytest.raises(OperatorLimit, match="LAM-OPS-ELEMENTWISE-17"):
            check_limits(op, ins)
        check_limits(replace(op, mode="single"), ins)


def test_shared_shift_stays_in_range_at_the_edges() -> None:
    one = Quant(1.0)
    for exponent in range(-40, 19):
        scale = Quant(2.0**exponent)
        ma, mb, s = shared_shift(scale, Quant(float(F32(1e-30))), one)
        assert 1 <= s <= 31
        assert ma < 2**21
        assert mb == 0
    almost = Quant(float(np.nextafter(F32(1), F32(0))))
    assert shared_shift(almost, almost, one)[2] == 20


def test_scales_far_beyond_the_output_are_refused() -> None:
    x = TensorType((4,), DType.S8)
    op = Add(Quant(2.0**20), Quant(1.0), Quant(1.0), DType.S8, -128, 127, "single")
    with pytest.raises(OperatorLimit, match="LAM-OPS-ELEMENTWISE-03"):
        check_limits(op, [x, x])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtypes", [(DType.S8, DType.S8), (DType.U8, DType.S8), (DType.U8, DType.U8)])
def test_mul_equals_the_formula_on_all_pairs(mode: Mode, dtypes: tuple[DType, DType]) -> None:
    a, b = (np.arange(d.low, d.high + 1).astype(d.numpy) for d in dtypes)
    requant = make_requant(mode, 0.02, [0.031], quant(0.05, 9), DType.U8)
    op = Mul(7, -3, requant, DType.U8, quant(0.05, 9))
    (y,) = op.golden([a[:, None], b[None, :]])
    picks = [*range(0, 256, 15), 128]
    for i, j in itertools.product(picks, picks):
        assert y[i, j] == plain.requant(requant, (int(a[i]) - 7) * (int(b[j]) + 3))


BROADCASTS = (
    ((1, 4, 3, 2), (1, 4, 3, 2), SAME_ROW, SAME_ROW),
    ((1, 4, 3, 2), (2,), SAME_ROW, RowRule(table=(0, 0, 0, 0))),
    ((1, 4, 3, 2), (1, 1, 3, 1), SAME_ROW, RowRule(table=(0, 0, 0, 0))),
    ((2, 1, 3, 1), (1, 3, 1, 5), RowRule(div=3), RowRule(table=(0, 1, 2, 0, 1, 2))),
    ((5, 1), (1, 6), SAME_ROW, SAME_ROW),
    ((3,), (), SAME_ROW, SAME_ROW),
)


@pytest.mark.parametrize(("a", "b", "rule_a", "rule_b"), BROADCASTS)
def test_broadcasting_follows_numpy(a: tuple[int, ...], b: tuple[int, ...], rule_a: RowRule, rule_b: RowRule) -> None:
    rng = np.random.default_rng(0)
    x, z = (rng.integers(-128, 128, s).astype(np.int8) for s in (a, b))
    op = Add(*QUANTS[0], DType.S8, -128, 127, "single")
    ins = [TensorType(s, DType.S8) for s in (a, b)]
    outs = op.infer(ins)
    (y,) = op.golden([x, z])
    assert y.shape == outs[0].shape == np.broadcast_shapes(a, b)
    full: list[Array] = [np.broadcast_to(v, y.shape) for v in (x, z)]
    assert np.array_equal(y, op.golden(full)[0])
    assert (op.rows(0, ins, outs), op.rows(1, ins, outs)) == (rule_a, rule_b)


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(InputsDoNotFit, match="do not broadcast"):
        Add(*QUANTS[0], DType.S8, -128, 127, "single").infer([TensorType(s, DType.S8) for s in ((4, 3), (4,))])


@pytest.mark.parametrize("dtype", [DType.S8, DType.U8, DType.S16, DType.S32])
def test_clamp_limits_integers(dtype: DType) -> None:
    x = np.array([dtype.low, 0, 5, 20, dtype.high], dtype.numpy)
    (y,) = Clamp(3, 19).golden([x])
    assert y.dtype == x.dtype
    assert y.tolist() == [max(3, min(19, v)) for v in x.tolist()]


def test_clamp_beyond_the_type_is_refused() -> None:
    with pytest.raises(InputsDoNotFit):
        Clamp(-1, 5).infer([TensorType((3,), DType.U8)])
