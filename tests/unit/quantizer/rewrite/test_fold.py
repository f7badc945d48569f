"""Factors and offsets folded into products: the same results, and no node left that a product takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.frontends import read_real
from codegen.ir.real import RealGraph
from codegen.quantizer.rewrite.fold import fold_affine
from codegen.quantizer.rewrite.hoist import hoist_affine
from codegen.real.elementwise import Binary, Function
from codegen.real.engine import RealEngine
from codegen.real.movement import Concat
from codegen.real.normal import BatchNorm
from codegen.real.product import Gemm, MatMul
from codegen.real.resize import Resize
from codegen.real.taps import Stretch
from codegen.real.window import Conv, ConvTranspose
from tests.support.float_networks import Maker, assert_same, random_network
from tests.support.shared import shared_dir


def kinds(graph: RealGraph) -> list[str]:
    return [type(n.op).__name__ for n in graph.nodes]


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_folding_keeps_what_a_network_computes(seed: int) -> None:
    graph = random_network(seed)
    assert_same(graph, fold_affine(graph).graph)


@pytest.mark.parametrize("product", ["conv", "depthwise", "transposed", "plain"])
def test_a_batch_norm_behind_a_product_is_part_of_it(product: str) -> None:
    maker = Maker(1)
    {"plain": lambda: maker.conv(bias=False)}.get(product, lambda: getattr(maker, product)())()
    last = maker.batch_norm()
    done = fold_affine(maker.done())
    assert_same(maker.done(), done.graph)
    (node,) = done.graph.nodes
    assert isinstance(node.op, Conv | ConvTranspose)
    assert node.outputs == (last,)
    assert done.record.pairs == 1


def test_a_chain_of_arithmetic_is_folded_to_the_last_node() -> None:
    maker = Maker(2)
    maker.conv()
    for _ in range(4):
        maker.arithmetic()
    maker.add(Function("Neg"))
    done = fold_affine(maker.done())
    assert_same(maker.done(), done.graph)
    assert kinds(done.graph) == ["Conv"]


def test_before_a_product_without_padding_everything_is_folded() -> None:
    maker = Maker(3)
    maker.batch_norm()
    maker.arithmetic()
    maker.conv(pad=0)
    done = fold_affine(maker.done())
    assert_same(maker.done(), done.graph)
    assert kinds(done.graph) == ["Conv"]


def test_padding_hides_an_offset_but_not_a_factor() -> None:
    maker = Maker(4)
    maker.add(Binary("Mul"), maker.constant(np.array([2.0, 3.0, 0.5]).reshape(3, 1, 1)))
    maker.add(Binary("Add"), maker.constant(np.array(1.0)))
    maker.conv(pad=1)
    done = fold_affine(maker.done())
    assert kinds(done.graph) == ["Binary", "Binary", "Conv"]
    maker = Maker(4)
    maker.add(Binary("Mul"), maker.constant(np.array([2.0, 3.0, 0.5]).reshape(3, 1, 1)))
    maker.conv(pad=1)
    done = fold_affine(maker.done())
    assert_same(maker.done(), done.graph)
    assert kinds(done.graph) == ["Conv"]


def test_nothing_is_folded_where_somebody_else_reads_the_product() -> None:
    maker = Maker(5)
    conv = maker.conv()
    maker.batch_norm()
    assert kinds(fold_affine(maker.done(maker.last, conv)).graph) == ["Conv", "BatchNorm"]
    maker.add(Binary("Add"), conv)
    assert kinds(fold_affine(maker.done()).graph) == ["Conv", "BatchNorm", "Binary"]


def test_weights_that_two_products_read_stay_as_they_are() -> None:
    maker = Maker(6)
    maker.conv(3)
    conv = maker.done().nodes[-1]
    weights = conv.inputs[1]
    maker.add(conv.op, weights)
    maker.batch_norm()
    graph = maker.done()
    after = fold_affine(graph).graph
    assert [n.inputs[1] for n in after.nodes[:2]] == [weights, weights]
    assert kinds(after) == kinds(graph)


def test_a_bias_that_two_products_read_is_copied() -> None:
    maker = Maker(7)
    maker.conv(3)
    conv = maker.done().nodes[-1]
    bias = conv.inputs[2]
    maker.add(conv.op, maker.normal(3, 3, 3, 3), bias)
    maker.batch_norm()
    graph = maker.done()
    done = fold_affine(graph)
    assert_same(graph, done.graph)
    assert done.graph.nodes[0].inputs[2] == bias != done.graph.nodes[1].inputs[2]


@pytest.mark.parametrize("rank", [2, 3])
def test_a_matrix_product_takes_its_factor_and_its_bias(rank: int) -> None:
    maker = Maker(8, (2, 5, 6)[3 - rank :])
    maker.add(MatMul(), maker.normal(6, 4))
    maker.add(Binary("Add"), maker.normal(4))
    maker.add(Binary("Mul"), maker.normal(4))
    maker.add(Binary("Sub"), maker.normal(4))
    done = fold_affine(maker.done())
    assert_same(maker.done(), done.graph)
    assert kinds(done.graph) == ["MatMul", "Binary"]


def test_a_matrix_product_without_bias_becomes_gemm_where_it_gets_one() -> None:
    maker = Maker(9, (4, 6))
    maker.add(BatchNorm(), *(maker.constant(np.linspace(0.5, 2, 6)) for _ in range(4)))
    maker.add(MatMul(), maker.normal(6, 4))
    done = fold_affine(maker.done())
    assert_same(maker.done(), done.graph)
    assert [type(n.op) for n in done.graph.nodes] == [Gemm]


def test_a_factor_that_is_no_number_is_left_alone() -> None:
    maker = Maker(10)
    maker.conv()
    maker.add(Binary("Div"), maker.constant(np.array(0.0)))
    assert kinds(fold_affine(maker.done()).graph) == ["Conv", "Binary"]


def test_a_batch_norm_that_no_product_takes_is_told() -> None:
    maker = Maker(11)
    maker.add(Function("Relu"))
    maker.batch_norm()
    maker.add(Function("Relu"))
    record = fold_affine(maker.done()).record
    assert record.pairs == 0
    assert len(record.passed_over) == 1


@pytest.mark.parametrize("between", ["linear", "nearest", "concat"])
def test_a_batch_norm_behind_a_stretch_or_a_join_is_part_of_the_products(between: str) -> None:
    maker = Maker(12)
    if between == "concat":
        maker.branches()
    else:
        maker.conv()
        double = Stretch(12, 2.0)
        maker.add(Resize((None, None, double, double), "linear" if between == "linear" else "nearest"))
    last = maker.batch_norm()
    done = hoist_affine(maker.done())
    assert_same(maker.done(), done.graph)
    assert done.record.pairs == 1
    assert not any(isinstance(n.op, BatchNorm) for n in done.graph.nodes)
    assert done.graph.outputs == (last,)


def test_a_join_with_something_else_keeps_its_batch_norm() -> None:
    maker = Maker(13)
    maker.conv()
    maker.add(Concat(1), "x")
    maker.batch_norm()
    assert hoist_affine(maker.done()).record.pairs == 0
    maker = Maker(13)
    conv = maker.conv(3)
    maker.add(Concat(1), conv)
    maker.batch_norm()
    assert hoist_affine(maker.done()).record.pairs == 0


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_hoisting_keeps_what_a_network_computes(seed: int) -> None:
    graph = random_network(seed)
    assert_same(graph, hoist_affine(graph).graph)


def test_a_real_network_loses_its_batch_norms() -> None:
    graph = read_real(shared_dir() / "models" / "onnx" / "sinet_portrait_f32.onnx")
    done = fold_affine(graph)
    assert sum(isinstance(n.op, BatchNorm) for n in graph.nodes) == 58
    assert len(done.record.passed_over) == 20
    hoisted = hoist_affine(done.graph)
    done = fold_affine(hoisted.graph)
    left = sum(isinstance(n.op, BatchNorm) for n in done.graph.nodes)
    assert left == len(done.record.passed_over) == 20 - hoisted.record.pairs
    assert hoisted.record.pairs == 9
    x = {n: np.random.default_rng(0).random(graph.type(n).shape, np.float32) for n in graph.inputs}
    for was, now in zip(RealEngine(graph).run(x).values(), RealEngine(done.graph).run(x).values(), strict=True):
        assert np.abs(was - now).max() <= 1e-4 * np.abs(was).max()
