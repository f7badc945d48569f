import math

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit
from codegen.ir.quant import MODES, DType, Mode, Quant, TensorType
from codegen.ops import FUNCTIONS, Lut, make_requant, requantize_table, unary_table
from tests.unit.ops import plain

F32 = np.float32
X = Quant(float(F32(0.047)), -11)
Y = Quant(float(F32(0.031)), 9)
EIGHT_BIT = (DType.S8, DType.U8)


def integers(dtype: DType) -> np.ndarray:
    return np.arange(dtype.low, dtype.high + 1)


def test_table_is_indexed_from_the_lowest_value() -> None:
    for dtype in EIGHT_BIT:
        q = integers(dtype).astype(dtype.numpy)
        op = Lut(tuple(range(256)), DType.U8, None, "ramp")
        assert op.golden([q])[0].tolist() == list(range(256))
        assert op.golden([q.reshape(2, 8, 16)[:, ::2, ::-1]])[0].shape == (2, 4, 16)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("x_dtype", EIGHT_BIT)
@pytest.mark.parametrize("mode", MODES)
def test_table_is_the_rounded_real_function(name: str, x_dtype: DType, mode: Mode) -> None:
    table = unary_table(name, X, x_dtype, Y, DType.S8, mode)
    with np.errstate(all="ignore"):
        real = FUNCTIONS[name](X.scale * (integers(x_dtype) - X.zero_point).astype(np.float64))
        exact = np.clip(np.nan_to_num(real / Y.scale, posinf=1e9, neginf=-1e9) + Y.zero_point, -128, 127)
    steep = 2.0 if name in ("Tan",) else 0.501
    assert np.abs(exact - table).max() <= steep


REFERENCES = {
    "Sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "Tanh": math.tanh,
    "HardSwish": lambda x: x * max(0.0, min(1.0, x / 6 + 0.5)),
    "HardSigmoid": lambda x: max(0.0, min(1.0, 0.2 * x + 0.5)),
    "Elu": lambda x: x if x >= 0 else math.exp(x) - 1,
    "LeakyRelu": lambda x: x if x >= 0 else 0.01 * x,
    "Mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
    "Gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    "Softplus": lambda x: math.log1p(math.exp(x)),
    "Softsign": lambda x: x / (1 + abs(x)),
    "Selu": lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * (math.exp(x) - 1)),
    "Celu": lambda x: max(0.0, x) + min(0.0, math.exp(x) - 1),
    "Erf": math.erf,
    "Swish": lambda x: x / (1 + math.exp(-x)),
    "GeluTanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_functions_are_those_of_onnx(name: str) -> None:
    points = np.linspace(-6, 6, 97)
    expected = np.array([REFERENCES[name](float(x)) for x in points])
    assert np.allclose(FUNCTIONS[name](points), expected, rtol=1e-7, atol=1e-9)


def test_attributes_reach_the_function() -> None:
    table = unary_table("LeakyRelu", Quant(1.0), DType.S8, Quant(1.0), DType.S8, "single", alpha=0.5)
    assert table[0] == -64
    assert unary_table("Clip", X, DType.S8, X, DType.S8, "single", min=0.0, max=1.0)[0] == X.zero_point


FLOAT_EXACT = {
    "Identity": (lambda x: x, {}),
    "Relu": (lambda x: np.maximum(x, F32(0)), {}),
    "Clip": (lambda x: np.clip(x, F32(-1), F32(2.5)), {"min": -1.0, "max": 2.5}),
    "Abs": (np.abs, {}),
    "Neg": (np.negative, {}),
    "Floor": (np.floor, {}),
    "LeakyRelu": (lambda x: np.where(x < 0, F32(0.1) * x, x), {"alpha": float(F32(0.1))}),
}


@pytest.mark.parametrize("name", sorted(FLOAT_EXACT))
@pytest.mark.parametrize("x_dtype", EIGHT_BIT)
@pytest.mark.parametrize("y_dtype", EIGHT_BIT)
def test_float_table_is_dequantize_function_quantize(name: str, x_dtype: DType, y_dtype: DType) -> None:
    function, attributes = FLOAT_EXACT[name]
    for scale_x, scale_y in ((0.047, 0.031), (0.1, 0.2), (1 / 3, 1 / 7), (0.5, 1.0)):
        x, y = Quant(float(F32(scale_x)), 60), Quant(float(F32(scale_y)), 9)
        real = (integers(x_dtype) - 60).astype(F32) * F32(x.scale)
        value = function(real)
        assert value.dtype == F32
        expected = np.clip(np.rint(value / F32(y.scale)) + 9, y_dtype.low, y_dtype.high)
        assert unary_table(name, x, x_dtype, y, y_dtype, "ort", **attributes) == tuple(expected.astype(int).tolist())


def test_exact_halves_round_to_even_but_in_tflite_arithmetic() -> None:
    tables = {mode: requantize_table(Quant(0.5), DType.S8, Quant(1.0), DType.S8, mode) for mode in MODES}
    assert [tables[m][128 + 1] for m in MODES] == [0, 1, 0]
    assert [tables[m][128 + 3] for m in MODES] == [2, 2, 2]


@pytest.mark.parametrize(("name", "attributes"), [("Identity", {}), ("Relu", {}), ("Clip", {"min": -1.0, "max": 2.0})])
def test_clamps_of_mode_tflite_are_its_requantize(name: str, attributes: dict[str, float]) -> None:
    requant = make_requant("tflite", X.scale, [1.0], Y, DType.S8)
    least, most = {"Identity": (-128, 127), "Relu": (9, 127), "Clip": (-23, 74)}[name]
    expected = [plain.clamp(plain.requant(requant, q - X.zero_point), least, most) for q in range(-128, 128)]
    assert list(unary_table(name, X, DType.S8, Y, DType.S8, "tflite", **attributes)) == expected


@pytest.mark.parametrize("mode", MODES)
def test_undefined_values_are_zero_and_infinities_saturate(mode: Mode) -> None:
    log = unary_table("Log", Quant(1.0), DType.S8, Y, DType.S8, mode)
    assert set(log[:128]) == {Y.zero_point}
    assert log[128] == -128
    assert unary_table("Reciprocal", Quant(1.0), DType.S8, Y, DType.S8, mode)[128] == 127


def test_a_function_of_ones_own_is_taken() -> None:
    table = unary_table(lambda x: x * x, Quant(1.0), DType.S8, Quant(1.0), DType.U8, "single")
    assert table[128 + 7] == 49


def test_a_short_table_is_refused() -> None:
    with pytest.raises(InputsDoNotFit, match="256 entries"):
        Lut((1, 2), DType.S8, None, "short").infer([TensorType((3,), DType.S8)])
