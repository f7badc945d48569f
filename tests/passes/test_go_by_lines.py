"""A network with attention by rows of lines gives the same numbers, and holds no scores whole."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
from codegen.build import Net
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Quant
from codegen.ops import MatMul, Softmax, Transpose, make_requant
from codegen.ops.float32 import (
    FloatBinary,
    FloatCumulative,
    FloatDense,
    FloatMatMul,
    FloatNormalize,
    FloatSoftmax,
    FloatUnary,
)
from codegen.passes import go_by_lines, lines_of
from tests.support.graphs import Sketch, random_array

HEADS, LENGTH, WIDTH = 2, 32, 4


class Attention(Sketch):
    """Attention of real numbers, of queries, keys and values by head."""

    def given(self, *shape: int) -> str:
        return self.input(shape, DType.F32, None, f"x{len(self.inputs)}")

    def real(self, *shape: int) -> str:
        return self.const(self.rng.standard_normal(shape).astype(np.float32))

    def scores(self, length: int = LENGTH, heads: int = HEADS) -> str:
        q, k = self.given(1, heads, length, WIDTH), self.given(1, heads, WIDTH, 20)
        return self.apply(FloatMatMul(), q, k)

    def mixed(self, scores: str, heads: int = HEADS) -> Graph:
        shares = self.apply(FloatSoftmax(3), scores)
        return self.graph(self.apply(FloatMatMul(), shares, self.given(1, heads, 20, WIDTH)))


def masked(*shape: int) -> Graph:
    s = Attention("masked", seed=1)
    return s.mixed(s.apply(FloatBinary("add"), s.scores(), s.real(*shape)))


def computed(*shape: int) -> Graph:
    s = Attention("computed", seed=2)
    return s.mixed(s.apply(FloatBinary("add"), s.scores(), s.given(*shape)))


def block() -> Graph:
    """A layer of a transformer without heads."""
    s = Attention("block", seed=3)
    x = s.given(1, LENGTH, 8)
    near = s.apply(FloatNormalize(1e-5), x)
    q, k, v = (s.apply(FloatDense(), near, s.real(8, 8), s.real(8)) for _ in range(3))
    turned = s.apply(Transpose((0, 2, 1)), k)
    shares = s.apply(FloatSoftmax(2), s.apply(FloatMatMul(), q, turned))
    x = s.apply(FloatBinary("add"), x, s.apply(FloatMatMul(), shares, v))
    wide = s.apply(FloatUnary("tanh"), s.apply(FloatDense(), x, s.real(24, 8), s.real(24)))
    return s.graph(s.apply(FloatBinary("add"), x, s.apply(FloatDense(), wide, s.real(8, 24), s.real(8))))


def along_lines() -> Graph:
    """Sums along the sequence, and a map as wide as it, which have no part in it."""
    s = Attention("along", seed=9)
    x = s.given(1, LENGTH, 8)
    x = s.apply(FloatBinary("add"), x, s.apply(FloatCumulative("sum", 1, False, False), x))
    shares = s.apply(FloatSoftmax(1), s.apply(FloatMatMul(), x, s.apply(Transpose((0, 2, 1)), x)))
    return s.graph(s.apply(FloatSoftmax(2), s.apply(FloatMatMul(), shares, x)))


def integers() -> Graph:
    s = Sketch("integers", seed=4)
    q, k, v = (s.input((1, HEADS, *n), name=name) for name, n in (("q", (LENGTH, 8)), ("k", (8, 20)), ("v", (20, 8))))
    score, share = Quant(0.125, 3), Quant(1 / 256, -128)
    one = make_requant("single", 0.01, [1.0], score, DType.S8)
    scores = s.apply(MatMul(2, -3, one, DType.S8, score), q, k)
    shares = s.apply(Softmax(score, share, DType.S8, "single"), scores)
    two = make_requant("single", 0.001, [1.0], score, DType.S8)
    return s.graph(s.apply(MatMul(-128, 0, two, DType.S8, score), shares, v))


GRAPHS = {
    "plain": lambda: (s := Attention("plain", seed=5)).mixed(s.scores()),
    "one_head": lambda: (s := Attention("one", seed=6)).mixed(s.scores(heads=1), heads=1),
    "lengths_apart": lambda: masked(1, 1, 1, 20),
    "mask": lambda: masked(1, 1, LENGTH, 20),
    "mask_of_heads": lambda: masked(1, HEADS, LENGTH, 20),
    "number": lambda: masked(1),
    "mask_of_inputs": lambda: computed(1, 1, LENGTH, 20),
    "keys_of_inputs": lambda: computed(1, HEADS, 1, 20),
    "block": block,
    "along_lines": along_lines,
    "integers": integers,
}


def outputs(graph: Graph, seed: int) -> list[bytes]:
    rng = np.random.default_rng(seed)
    feeds = {f.value: random_array(rng, graph.type(f.value).shape, graph.type(f.value).dtype) for f in graph.inputs}
    values = run_graph(graph, feeds)
    return [values[face.value].tobytes() for face in graph.outputs]


@pytest.mark.parametrize("name", GRAPHS)
def test_attention_gives_the_same_by_rows_of_lines(name: str) -> None:
    graph = GRAPHS[name]()
    lined = go_by_lines(graph)
    assert outputs(graph, 1) == outputs(lined, 1)
    products = [n for n in lined.nodes if isinstance(n.op, MatMul | FloatMatMul)]
    assert all(lined.type(n.outputs[0]).shape[-2] == lines_of(graph) for n in products)
    assert all(math.prod(lined.type(n.outputs[0]).shape[:-2]) >= 4 for n in products)


@pytest.mark.parametrize("length", [7, 8, 37])
def test_few_lines_stay_and_a_prime_number_of_them_has_rows_of_one(length: int) -> None:
    s = Attention("few", seed=7)
    graph = s.mixed(s.scores(length))
    lined = go_by_lines(graph)
    assert (lined is graph) == (length < 37)
    assert outputs(graph, 2) == outputs(lined, 2)


def test_a_network_without_attention_stays() -> None:
    s = Attention("none", seed=8)
    graph = s.graph(s.apply(FloatMatMul(), s.given(1, 64, 8), s.real(1, 8, 4)))
    assert lines_of(graph) == 0
    assert go_by_lines(graph) is graph


def network(kind: str, folder: Path, heads: int = 4, length: int = 64, width: int = 8) -> Path:
    net = Net("attention")

    def held(x: Any, scale: float, zero: int = 0) -> Any:
        return net.quantized(x, scale, zero) if kind == "integers" else x

    sizes = {"q": (length, width), "k": (width, length), "v": (length, width)}
    q, k, v = (held(net.input(name, (1, heads, *size)), 0.03) for name, size in sizes.items())
    shares = held(net.onnx.Softmax(held(net.onnx.MatMul(q, k), 0.1), axis=-1), 1 / 256, -128)
    net.output(held(net.onnx.MatMul(shares, v), 0.03), "y")
    path = folder / "attention.onnx"
    path.write_bytes(net.to_onnx())
    return path


@pytest.mark.parametrize("kind", ["real", "integers"])
@pytest.mark.parametrize(
    "options", [{"goal": "balanced"}, {"goal": "speed"}, {"target": "cortex-m4"}], ids=["balanced", "speed", "m4"]
)
def test_no_scores_are_held_whole(kind: str, options: dict[str, str], tmp_path: Path) -> None:
    """But for speed; and C equals golden, every tensor."""
    model = network(kind, tmp_path)
    scores = 4 * 64 * 64 * (4 if kind == "real" else 1)
    made = codegen.compile_model(model, out=tmp_path / "out", **options)
    assert (made.manifest["arena_bytes"] < scores) == (options.get("goal") != "speed")
    assert codegen.verify(model, samples=1, **options).equal
