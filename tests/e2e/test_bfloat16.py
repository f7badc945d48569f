"""Tensors of bfloat16: float32 at the C interface and within, rounded where a Cast says so, weights as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import codegen
from codegen.api import verify
from codegen.build import Net
from codegen.float32.storage import as_bfloat16
from codegen.ir.quant import Array
from tests.e2e.test_onnx_nodes import same_bits
from tests.support.onnx_files import onnx_model, port

SHORT = TensorProto.BFLOAT16


def network(nodes: Sequence[Any], given: tuple[int, Sequence[int]], made: int, known: dict[str, Array]) -> bytes:
    """A model from `x` to `y`, whose constants are of bfloat16."""
    constants = {name: array.astype(helper.tensor_dtype_to_np_dtype(SHORT)) for name, array in known.items()}
    inputs, outputs = [port("x", given[1], given[0])], [port("y", kind=made)]
    return bytes(onnx_model(nodes, inputs, outputs, constants, sets=20, ir_version=9, name="short").SerializeToString())


def casts(given: int, *kinds: int, shape: Sequence[int] = (1, 5)) -> bytes:
    """One Cast after the other."""
    names = ["x", *(f"t{i}" for i in range(len(kinds) - 1)), "y"]
    nodes = [helper.make_node("Cast", [a], [b], to=k) for a, b, k in zip(names, names[1:], kinds, strict=False)]
    return network(nodes, (given, shape), kinds[-1], {})


def rounded(x: Array) -> Array:
    """As the package that gives numpy this type has it."""
    with np.errstate(invalid="ignore", over="ignore"):
        return x.astype(np.float32).astype(helper.tensor_dtype_to_np_dtype(SHORT)).astype(np.float32)


def test_a_cast_is_right_of_every_pattern(tmp_path: Path) -> None:
    """Each of the 2^16 numbers that bfloat16 holds, and what lies a quarter, a half and three quarters behind it."""
    model = casts(TensorProto.FLOAT, SHORT, TensorProto.FLOAT, shape=(1 << 16,))
    upper = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    with codegen.load(codegen.compile_model(model, out=tmp_path / "p")) as compiled:
        for lower in (0, 0x4000, 0x8000, 0xC000):
            x = (upper | np.uint32(lower)).view(np.float32)
            assert same_bits(compiled.run(x), rounded(x))
            assert same_bits(codegen.run(model, x), rounded(x))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.bool_, np.float16])
def test_a_cast_is_of_numbers_of_every_type(kind: Any) -> None:
    held = np.dtype(np.int32) if kind == np.int64 else np.dtype(kind)
    if held.kind in "iu":
        ends = np.iinfo(held)
        x = np.array([[ends.min, ends.max, 3 * (ends.max // 4), ends.max // 3, 1]]).astype(kind)
    else:
        x = np.array([[0, 1.00390625, 65504, 6e-8, -2.998]]).astype(kind)
    given = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    for engine in ("golden", "c", "float"):
        assert same_bits(codegen.run(casts(given, SHORT, TensorProto.FLOAT), x, engine), rounded(x)), engine


def test_between_floats_of_16_bits_a_cast_rounds_and_of_one_of_them_it_does_not() -> None:
    x = np.array([[1.00390625, 65504, 6e-8, -3.1415, 1e5]], np.float32)
    wanted = np.array([[1, np.inf, 5.9604645e-08, -3.140625, np.inf]], np.float32)
    model = casts(SHORT, TensorProto.FLOAT16, SHORT, TensorProto.FLOAT16, TensorProto.FLOAT)
    for engine in ("golden", "c", "float"):
        assert same_bits(codegen.run(model, x, engine), wanted), engine
    assert same_bits(codegen.run(casts(SHORT, SHORT, TensorProto.FLOAT), x), x), "computed as float32 in between"


def test_the_type_of_another_tensor_is_that_of_a_cast() -> None:
    like = [helper.make_node("CastLike", ["x", "w"], ["y"])]
    model = network(like, (TensorProto.FLOAT, (1, 5)), SHORT, {"w": np.zeros(1)})
    x = np.array([[1.01, -2.003, 0.1, 1e38, 3]], np.float32)
    assert same_bits(codegen.run(model, x, "c"), rounded(x))


LAYERS = (
    helper.make_node("MatMul", ["x", "w"], ["product"]),
    helper.make_node("Add", ["product", "b"], ["sum"]),
    helper.make_node("Relu", ["sum"], ["y"]),
)
RNG = np.random.default_rng(5)
KNOWN = {"w": RNG.normal(size=(6, 4)), "b": RNG.normal(size=4)}


def test_a_network_of_bfloat16_is_computed_in_float32_with_its_weights() -> None:
    model = network(LAYERS, (SHORT, (1, 6)), SHORT, KNOWN)
    x = rounded(RNG.normal(size=(1, 6)))
    weights, bias = (rounded(KNOWN[name]).astype(np.float64) for name in "wb")
    wanted = np.maximum(x @ weights + bias, 0)
    y = codegen.run(model, x, "c")
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, wanted, rtol=1e-6)
    assert same_bits(codegen.run(model, x), y)
    assert verify(model, samples=2).equal
    assert same_bits(codegen.run(model, x, "float"), as_bfloat16(y)), "here each result is rounded, as the model has it"


def test_arrays_of_bfloat16_are_taken(tmp_path: Path) -> None:
    model = network(LAYERS, (SHORT, (1, 6)), SHORT, KNOWN)
    short = RNG.normal(size=(1, 6)).astype(helper.tensor_dtype_to_np_dtype(SHORT))
    with codegen.load(codegen.compile_model(model, out=tmp_path / "p")) as compiled:
        assert same_bits(compiled.run(short), compiled.run(short.astype(np.float32)))
    assert same_bits(codegen.run(model, short, "float"), codegen.run(model, short.astype(np.float32), "float"))


def test_scales_of_bfloat16_are_read() -> None:
    zero = numpy_helper.from_array(np.int8(3), "zero")
    nodes = [
        helper.make_node("Constant", [], ["z"], value=zero),
        helper.make_node("QuantizeLinear", ["x", "scale", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "z"], ["y"]),
    ]
    x = rounded(np.array([[1, -2, 0.5, 0.1, 3]]))
    made = [
        codegen.run(network(nodes, (kind, (1, 5)), kind, {"scale": np.array(0.05)}), x, engine)
        for kind, engine in ((SHORT, "c"), (SHORT, "golden"))
    ]
    step = rounded(np.array(0.05))
    wanted = ((np.clip(np.rint(x / step) + 3, -128, 127) - 3) * step).astype(np.float32)
    assert all(same_bits(y, wanted) for y in made)


def test_a_network_written_again_rounds_where_it_did() -> None:
    x = np.array([[1.01, -2.003, 0.1, 1e38, 3]], np.float32)
    net = Net("short")
    net.output(net.onnx.Cast(net.onnx.Cast(net.input("x", (1, 5)), to=SHORT), to=TensorProto.FLOAT), "y")
    onnx.checker.check_model(onnx.load_model_from_string(net.to_onnx()), full_check=True)
    assert same_bits(codegen.run(net.to_onnx(), x), rounded(x))
