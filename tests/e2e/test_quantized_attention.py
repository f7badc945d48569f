"""The operator Attention, and constants added behind products, in networks that `quantize` makes: integers only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import codegen
from codegen.build import Net
from codegen.frontends.onnx import import_onnx
from codegen.ir.quant import Array
from tests.e2e.test_integer_operators import has_real_layer
from tests.e2e.test_quantized_masks import attention, samples
from tests.support.onnx_files import onnx_graph, port
from tests.support.outsider import ort_session
from tests.support.tools import require_tool

TOKENS, WIDTH = 9, 12
MASK = np.where(np.arange(TOKENS) < 6, np.float32(0), np.float32(-1e9)) * np.ones((TOKENS, 1), np.float32)
FORMS: Mapping[str, tuple[dict[str, Any], dict[str, Array]]] = {
    "plain": ({"q_num_heads": 2, "kv_num_heads": 2}, {}),
    "causal": ({"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 1}, {}),
    "mask": ({"q_num_heads": 3, "kv_num_heads": 3}, {"m": MASK}),
    "flags": ({"q_num_heads": 2, "kv_num_heads": 2}, {"m": MASK == 0}),
    "shared heads": ({"q_num_heads": 2, "kv_num_heads": 1, "scale": 0.3}, {}),
}


def block(path: Path, name: str) -> Path:
    """A transformer's block with the operator Attention, in float."""
    attributes, mask = FORMS[name]
    rng, narrow = np.random.default_rng(4), WIDTH // attributes["q_num_heads"] * attributes["kv_num_heads"]
    sizes = {"wq": (WIDTH, WIDTH), "wk": (WIDTH, narrow), "wv": (WIDTH, narrow), "wo": (WIDTH, WIDTH)}
    sizes |= {"w1": (WIDTH, 20), "w2": (20, WIDTH)}
    known = {n: rng.normal(0, s[0] ** -0.5, s).astype(np.float32) for n, s in sizes.items()}
    known |= {"g": np.ones(WIDTH, np.float32), **mask}
    steps = [
        *(
            ("LayerNormalization", "x g", "n"),
            ("MatMul", "n wq", "q"),
            ("MatMul", "n wk", "k"),
            ("MatMul", "n wv", "v"),
        ),
        *(("Attention", " ".join(("q k v", *mask)), "a"), ("MatMul", "a wo", "o"), ("Add", "x o", "r")),
        *(("MatMul", "r w1", "h"), ("Gelu", "h", "e"), ("MatMul", "e w2", "f"), ("Add", "r f", "y")),
    ]
    given = {"Attention": attributes}
    nodes = [helper.make_node(op, ins.split(), [out], **given.get(op, {})) for op, ins, out in steps]
    graph = onnx_graph(nodes, [port("x", (1, TOKENS, WIDTH))], ["y"], known)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    path.write_bytes(model.SerializeToString())
    return path


def quantized(model: Path, x: Array) -> tuple[Path, float]:
    """What `quantize` makes of a network, of integers alone, and how near it is."""
    made = codegen.quantize(model, {"x": x}, recipe="fast")
    path = model.with_name("q.onnx")
    path.write_bytes(made.model)
    assert not has_real_layer(import_onnx(path, mode="single", io_type="model", io_layout="model"))
    assert made.report.sqnr is not None
    return path, made.report.sqnr


@pytest.mark.parametrize("name", FORMS)
def test_attention_is_integers(name: str, tmp_path: Path) -> None:
    require_tool("gcc")
    x = samples(given=False)["x"]
    path, sqnr = quantized(block(tmp_path / "m.onnx", name), x)
    assert sqnr > 28
    assert codegen.verify(path, flags=["-O0"]).equal
    session, found = ort_session(tmp_path / "m.onnx"), codegen.run(path, x[0])
    (wanted,) = session.run(None, {"x": x[0]})
    error = np.asarray(found, np.float64).reshape(wanted.shape) - wanted
    assert 10 * np.log10((wanted**2).sum() / (error**2).sum()) > 26


@pytest.mark.parametrize("depth", [-1e4, -1e9, float(np.finfo(np.float32).min)])
def test_a_constant_mask_that_is_added_leaves_scores_integers(depth: float, tmp_path: Path) -> None:
    _, sqnr = quantized(attention(tmp_path / "m.onnx", "added", depth), samples(given=False)["x"])
    assert sqnr > 25


@pytest.mark.parametrize("added", [(TOKENS, 8), (1, TOKENS, 1), (1, 1, 8), (8,), ()])
def test_what_is_added_behind_a_product_is_its_bias_or_a_sum(added: tuple[int, ...], tmp_path: Path) -> None:
    """Positions that are added to tokens, where the layer before has no bias of its own."""
    rng = np.random.default_rng(6)
    net = Net("positions")
    op, x = net.onnx, net.input("x", (1, TOKENS, WIDTH))
    h = op.MatMul(x, rng.normal(0, 0.3, (WIDTH, 8)).astype(np.float32))
    h = op.Relu(op.Add(h, np.asarray(rng.normal(0, 0.5, added), np.float32)))
    net.output(op.MatMul(h, rng.normal(0, 0.3, (8, 4)).astype(np.float32)), "y")
    (tmp_path / "m.onnx").write_bytes(net.to_onnx())
    _, sqnr = quantized(tmp_path / "m.onnx", samples(given=False)["x"])
    assert sqnr > 25
