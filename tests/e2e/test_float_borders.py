"""What comes in and goes out as real, whole and truth numbers: arrays as ONNX Runtime takes and gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

import codegen
from codegen.api import verify
from codegen.build import Net
from codegen.errors import CompileError
from codegen.ir.quant import Array

X = np.array([[1, -2, 0.5, 0.1, 3]], np.float32)
SPOILT = np.array([[1, np.nan, 2, np.inf, -np.inf]], np.float32)
WHOLE = np.array([[10, -20, 5, 1, 30]], np.int64)
Made = Callable[[Net, Any], Any]
_TYPES = onnx.TensorProto


def network(dtype: Any, make: Made) -> bytes:
    net = Net("border")
    net.output(make(net, net.input("x", (1, 5), dtype)), "y")
    return net.to_onnx()


def of_onnxruntime(model: bytes, x: Array) -> Array:
    pytest.importorskip("onnxruntime")
    from tests.support.outsider import ort_session

    return np.asarray(ort_session(onnx.load_model_from_string(model)).run(None, {"x": x})[0])


def as_flags(net: Net, x: Any) -> Any:
    return net.onnx.Cast(net.onnx.Less(x, 0.2), to=onnx.TensorProto.FLOAT)


def without_nan(net: Net, x: Any) -> Any:
    return net.onnx.Where(net.onnx.IsNaN(x), 0.25, x)


def real(net: Net, x: Any) -> Any:
    return net.onnx.Cast(x, to=onnx.TensorProto.FLOAT)


def greatest(net: Net, x: Any) -> Any:
    return net.onnx.TopK(x, np.int64([3]), axis=1, outputs=2)[1]


def quantized(net: Net, x: Any) -> Any:
    scale = [np.float32(0.05), np.int8(3)]
    return net.onnx.DequantizeLinear(net.onnx.QuantizeLinear(x, *scale), *scale)


def computed_power(net: Net, x: Any) -> Any:
    return net.onnx.Pow(x, net.onnx.Mod(net.onnx.Abs(x), np.int64([7])))


CASES: dict[str, tuple[Any, Made, Array]] = {
    "a truth value as a real output": (np.float32, as_flags, X),
    "NaN and infinities in a real input": (np.float32, without_nan, SPOILT),
    "infinities through a function": (np.float32, lambda net, x: net.onnx.Tanh(x), SPOILT),
    "whole numbers of 64 bits": (np.int64, real, WHOLE),
    "truth values": (np.bool_, real, X > 0),
    "a truth value": (np.float32, lambda net, x: net.onnx.Less(x, 0.2), X),
    "a position": (np.float32, lambda net, x: net.onnx.ArgMax(x, axis=1), X),
    "positions of the greatest": (np.float32, greatest, X),
    "positions of quantized numbers": (np.float32, lambda net, x: greatest(net, quantized(net, x)), X),
    "powers of whole numbers": (np.int64, lambda net, x: net.onnx.Pow(x, np.int64([2, 3, 13, 40, 1])), WHOLE),
    "powers of whole numbers to computed ones": (np.int64, computed_power, WHOLE),
    "a power of whole numbers to one given as a real": (np.int64, lambda net, x: net.onnx.Pow(x, np.float32(6)), WHOLE),
    "a power with a fraction": (np.int64, lambda net, x: net.onnx.Pow(net.onnx.Abs(x), np.float32(0.6)), WHOLE),
    "a sum of positions": (np.float32, lambda net, x: net.onnx.Add(net.onnx.ArgMin(x, axis=1), np.int64([7])), X),
    "whole numbers of 64 bits of real ones": (np.float32, lambda net, x: net.onnx.Cast(x, to=_TYPES.INT64), X),
    "whole numbers of 32 bits without signs": (np.float32, lambda net, x: net.onnx.Cast(x, to=_TYPES.UINT32), X**2),
    "whole numbers of 32 bits": (np.float32, lambda net, x: net.onnx.Cast(x, to=_TYPES.INT32), X),
}


@pytest.mark.parametrize("engine", ["golden", "c"])
@pytest.mark.parametrize("name", CASES)
def test_arrays_come_in_and_go_out_as_in_onnx_runtime(name: str, engine: str) -> None:
    dtype, make, x = CASES[name]
    model = network(dtype, make)
    expected, found = of_onnxruntime(model, x), codegen.run(model, x, engine)
    assert isinstance(found, np.ndarray)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=0 if found.dtype.kind in "iu" else 1e-6)
    assert verify(model, inputs=[{"x": x}], samples=1).equal


def test_flags_that_leave_as_real_numbers_say_what_they_mean() -> None:
    made = codegen.inspect(network(np.float32, as_flags))
    assert [(port.dtype, port.scale, port.zero_point) for port in made.interface[1:]] == [("u8", 1.0, 0)]
    assert made.interface[0].scale is None


def test_whole_numbers_beyond_32_bits_are_refused_by_their_number() -> None:
    with pytest.raises(CompileError, match=r"LAM-GOLDEN-003 x: holds 3000000000, which is no int32"):
        codegen.run(network(np.int64, real), WHOLE * 100_000_000)


def test_other_whole_numbers_are_refused_as_before() -> None:
    with pytest.raises(CompileError, match="LAM-GOLDEN-003 x: is int16"):
        codegen.run(network(np.int64, real), WHOLE.astype(np.int16))


HALVES = {
    np.float32: np.array([[3.14159, 65519, 65520, 1e-8, -2.5e-5], [6e-8, -70000, 1e30, 2049, np.nan]], np.float32),
    np.int16: np.array([[2049, 32767, -2051, 255, 3]], np.int16),
    np.int32: np.array([[2049, 70000, -2051, 65519, 3]], np.int32),
}


def through(half: int) -> Made:
    """Cast to a float of 16 bits, once more, and back."""

    def there_and_back(net: Net, x: Any) -> Any:
        return net.onnx.Cast(net.onnx.Cast(net.onnx.Cast(x, to=half), to=half), to=_TYPES.FLOAT)

    return there_and_back


@pytest.mark.parametrize("half", [_TYPES.FLOAT16, _TYPES.BFLOAT16])
@pytest.mark.parametrize("dtype", HALVES)
def test_a_cast_to_16_bits_rounds_once_and_between_them_nothing_is_lost(dtype: Any, half: int) -> None:
    model = network(dtype, through(half))
    for row in HALVES[dtype]:
        x = row[None]
        wanted = of_onnxruntime(model, x)
        for engine in ("golden", "c"):
            np.testing.assert_array_equal(codegen.run(model, x, engine), wanted)
    assert verify(model, samples=2).equal
