import numpy as np
import pytest

from codegen.errors import InputsDoNotFit
from codegen.ir.quant import MODES, DType, Mode, Quant, TensorType
from codegen.ops import Dequantize, Quantize, Rescale, make_requant
from tests.unit.ops import plain

F32 = np.float32


@pytest.mark.parametrize("dtype", [DType.S8, DType.U8, DType.S16])
def test_quantize_is_onnx_quantize_linear(dtype: DType) -> None:
    x = np.concatenate([np.random.default_rng(0).normal(0, 30, 500), [0, 0.05, 0.15, -0.25, 1e9, -1e9]]).astype(F32)
    y = Quant(float(F32(0.1)), 5)
    (q,) = Quantize(dtype, y).golden([x])
    assert q.dtype == dtype.numpy
    assert q.tolist() == [plain.quantize(v, y.scale, 5, dtype.low, dtype.high) for v in x]


def test_infinities_saturate_and_nan_is_the_lowest() -> None:
    (q,) = Quantize(DType.S8, Quant(0.5, 3)).golden([np.array([np.inf, -np.inf, np.nan], F32)])
    assert q.tolist() == [127, -128, -128]


@pytest.mark.parametrize("dtype", [DType.S8, DType.U8, DType.S16, DType.S32])
def test_dequantize_is_one_float32_product(dtype: DType) -> None:
    q = np.array([dtype.low, dtype.low + 1, 0, 1, 100, dtype.high], dtype.numpy)
    (y,) = Dequantize(Quant(float(F32(0.3)), 7)).golden([q])
    assert y.dtype == F32
    assert y.tolist() == [float(plain.dequantize(v, Quant(float(F32(0.3)), 7))) for v in q.tolist()]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("channels", [1, 4])
def test_rescale_requantizes_sums(mode: Mode, channels: int) -> None:
    acc = np.random.default_rng(1).integers(-(2**31), 2**31, (3, 5, 4)).astype(np.int32)
    requant = make_requant(mode, 1e-8, np.linspace(1, 5, channels).tolist(), Quant(1.0, -3), DType.S8)
    (y,) = Rescale(requant, DType.S8, Quant(1.0, -3)).golden([acc])
    assert np.array_equal(y, plain.requantized(requant, acc, DType.S8))


def test_rescale_of_other_channels_is_refused() -> None:
    requant = make_requant("single", 0.1, [1.0, 2.0], Quant(1.0), DType.S8)
    with pytest.raises(InputsDoNotFit, match="2 factors"):
        Rescale(requant, DType.S8, None).infer([TensorType((1, 3), DType.S32)])
