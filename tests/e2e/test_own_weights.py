"""Weights that a file holds in few bits beside real numbers: ONNX Runtime's numbers, and few bytes of C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.api import run, verify
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.pipeline import compile_file
from tests.support.onnx_files import onnx_model, ports_of
from tests.support.outsider import ort_session
from tests.support.tools import require_tool

IN, OUT = 96, 16
KINDS = {
    "s4": (TensorProto.INT4, -8, 8, 0),
    "u4": (TensorProto.UINT4, 0, 16, 8),
    "s8": (TensorProto.INT8, -128, 128, 0),
    "u8": (TensorProto.UINT8, 0, 256, 77),
}
Made = tuple[onnx.ModelProto, dict[str, Array]]


def held(
    kind: str, axis: int, block: int, shape: Sequence[int], seed: int = 5
) -> tuple[list[Any], list[onnx.TensorProto]]:
    """The weights `wd`, by a DequantizeLinear: a scale for each entry of an axis, or for blocks along it."""
    rng, (dtype, low, high, zero) = np.random.default_rng(seed), KINDS[kind]
    ints = rng.integers(low, high, shape)
    sizes = [-(-n // block) if i == axis else n for i, n in enumerate(shape)] if block else [shape[axis]]
    scale = rng.uniform(0.01, 0.2, sizes).astype(np.float32)
    given = [
        helper.make_tensor("w", dtype, ints.shape, ints.reshape(-1).tolist()),
        numpy_helper.from_array(scale, "s"),
        helper.make_tensor("z", dtype, sizes, np.full(sizes, zero).reshape(-1).tolist()),
    ]
    blocks = {"block_size": block} if block else {}
    return [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["wd"], axis=axis, **blocks)], given


def dense(kind: str, block: int, way: str) -> Made:
    turned = way != "MatMul"
    shape = (OUT, IN) if turned else (IN, OUT)
    along = int(turned) if block else int(not turned)
    nodes, given = held(kind, along, block, shape)
    if way == "Transpose":
        nodes += [helper.make_node("Transpose", ["wd"], ["wt"], perm=[1, 0])]
    side = "wt" if way == "Transpose" else "wd"
    words = {"transB": 1} if way == "Gemm" else {}
    nodes.append(helper.make_node("Gemm" if way == "Gemm" else "MatMul", ["x", side], ["y"], **words))
    feeds = {"x": np.random.default_rng(1).standard_normal((2, IN)).astype(np.float32)}
    return onnx_model(nodes, ports_of(feeds), ["y"], given, sets=21, ir_version=10), feeds


def convolution(kind: str, groups: int) -> Made:
    nodes, given = held(kind, 0, 0, (8, 8 // groups, 3, 3))
    nodes.append(helper.make_node("Conv", ["x", "wd"], ["y"], group=groups, pads=[1] * 4))
    feeds = {"x": np.random.default_rng(1).standard_normal((1, 8, 6, 6)).astype(np.float32)}
    return onnx_model(nodes, ports_of(feeds), ["y"], given, sets=21, ir_version=10), feeds


def n_bits(bits: int, block: int, inputs: int, *, zeros: bool = False, bias: bool = False) -> Made:
    rng, blocks = np.random.default_rng(9), -(-inputs // block)
    given = {
        "b": rng.integers(0, 256, (OUT, blocks, block * bits // 8)).astype(np.uint8),
        "s": rng.uniform(0.01, 0.2, OUT * blocks).astype(np.float32),
    }
    names = ["x", "b", "s", "", "", ""]
    if zeros:
        given["z"], names[3] = rng.integers(0, 256, OUT * -(-blocks * bits // 8)).astype(np.uint8), "z"
    if bias:
        given["c"], names[5] = rng.standard_normal(OUT).astype(np.float32), "c"
    words = {"K": inputs, "N": OUT, "bits": bits, "block_size": block}
    node = helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", **words)
    feeds = {"x": rng.standard_normal((2, 3, inputs)).astype(np.float32)}
    sets = {"": 21, "com.microsoft": 1}
    return onnx_model([node], ports_of(feeds), ["y"], given, sets=sets, ir_version=10), feeds


CASES: dict[str, tuple[Callable[[], Made], float]] = {
    **{
        f"{way} {kind} {block}": ((lambda a=(kind, block, way): dense(*a)), IN * OUT * int(kind[1]) / 8)
        for way, kind, block in (
            *(("MatMul", kind, block) for kind in KINDS for block in (0, 16, 32)),
            *(("Gemm", "s4", block) for block in (0, 32)),
            *(("Transpose", "u4", block) for block in (0, 32, 64)),
        )
    },
    **{f"Conv {kind} {g}": ((lambda a=(kind, g): convolution(*a)), 72 * 8 / g) for kind in KINDS for g in (1, 8)},
    **{f"MatMulNBits {b}": ((lambda b=b: n_bits(4, b, 128)), 128 * OUT / 2) for b in (16, 32, 64, 128)},
    "MatMulNBits in part": (lambda: n_bits(4, 64, 96), 96 * OUT / 2),
    "MatMulNBits one block": (lambda: n_bits(4, 128, 64), 64 * OUT / 2),
    "MatMulNBits 8 bits": (lambda: n_bits(8, 32, 96), 96 * OUT),
    "MatMulNBits zeros": (lambda: n_bits(4, 32, 96, zeros=True), 96 * OUT / 2 + 3 * OUT),
    "MatMulNBits zeros of one block": (lambda: n_bits(4, 64, 64, zeros=True), 64 * OUT / 2 + OUT),
    "MatMulNBits bias": (lambda: n_bits(4, 16, 96, zeros=True, bias=True), 96 * OUT / 2 + 6 * OUT),
}
"""Models, and what their weights take without scales and biases; with a byte for each 4-bit zero point of its own."""


@pytest.mark.parametrize("name", CASES)
def test_weights_stay_the_integers_of_the_file(name: str, tmp_path: Any) -> None:
    make, most = CASES[name]
    model, feeds = make()
    (wanted,) = ort_session(model).run(None, feeds)
    data, path = model.SerializeToString(), tmp_path / "model.onnx"
    path.write_bytes(data)
    found, exact = (run(data, feeds, "golden", float_weights=s)["y"] for s in ("own", "f32"))
    assert np.array_equal(found, exact), "the float32 numbers that the file means"
    assert np.allclose(found.reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())
    made, whole = (compile_file(path, Options(target="cortex-m4", vectors=0, float_weights=s)) for s in ("own", "f32"))
    (weights,) = [v.type for v in made.graph.values.values() if v.type.storage]
    scales = weights.elements // weights.block if weights.block else OUT
    of_scales = (6 if weights.storage == "u8" else 4) * scales
    assert int(str(made.manifest["weights_bytes"])) <= most + of_scales + 4 * OUT + 8
    assert int(str(made.manifest["weights_bytes"])) < int(str(whole.manifest["weights_bytes"]))


@pytest.mark.parametrize(
    "name",
    ["MatMul s4 16", "Transpose u4 64", "Conv s8 8", "MatMul u8 0", "Conv u8 1", "Conv u8 8", "MatMulNBits zeros"],
)
def test_c_has_golden_s_numbers(name: str) -> None:
    require_tool("gcc")
    model, feeds = CASES[name][0]()
    for target in ("host", "cortex-m4", "generic"):
        assert verify(model.SerializeToString(), inputs=[feeds], samples=1, target=target).equal
