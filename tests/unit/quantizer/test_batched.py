"""Many samples at once against one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealOp, RealType, RealValue, Stored, Summing
from codegen.quantizer.batched import hold, run_node
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.movement import Concat, Reshape, Transpose
from codegen.real.reduce import Softmax
from codegen.real.storage import Dequantize, Quantize
from tests.support.products import CASES

Shapes = tuple[tuple[int, ...], ...]

OTHERS: dict[str, tuple[RealOp, Shapes, Shapes]] = {
    "relu": (Function("Relu"), ((1, 3, 4),), ()),
    "clip": (Clip(0.0, 1.0), ((2, 3),), ()),
    "add": (Binary("Add"), ((1, 3, 4), (1, 3, 4)), ()),
    "add of other ranks": (Binary("Add"), ((1, 3, 4), (4,)), ()),
    "add of a constant": (Binary("Add"), ((1, 3, 4),), ((3, 1),)),
    "add of a constant with batches": (Binary("Add"), ((1, 3, 4),), ((2, 3, 4),)),
    "prelu": (PRelu(), ((1, 3, 4),), ((3, 1),)),
    "softmax": (Softmax((1,)), ((1, 5),), ()),
    "joined": (Concat(1), ((1, 3, 4), (1, 2, 4)), ()),
    "joined to a constant": (Concat(1), ((1, 3, 4),), ((1, 2, 4),)),
    "joined batches": (Concat(0), ((1, 3), (1, 3)), ()),
    "reshaped": (Reshape((1, 12)), ((1, 3, 4),), ()),
    "turned": (Transpose((1, 0)), ((1, 3),), ()),
}


def graph_of(op: RealOp, shapes: Shapes, constants: dict[int, Array]) -> RealGraph:
    """One node, some of whose inputs are constants."""
    names = tuple(f"x{i}" for i in range(len(shapes)))
    types = [RealType(s) for s in shapes]
    values = {n: RealValue(n, t, constants.get(i)) for i, (n, t) in enumerate(zip(names, types, strict=True))}
    values["y"] = RealValue("y", op.infer(types)[0])
    return RealGraph("g", values, (RealNode("n", op, names, ("y",), "n", "N"),), names[:1], ("y",), "onnx")


def assert_same(op: RealOp, shapes: Shapes, constants: dict[int, Array]) -> None:
    graph, random = graph_of(op, shapes, constants), np.random.default_rng(1)
    count, known = 3, [i in constants for i in range(len(shapes))]
    ins = [
        constants[i] if k else random.normal(size=(count, *shapes[i])).astype(np.float32) for i, k in enumerate(known)
    ]
    (made,) = run_node(graph, graph.nodes[0], ins, known)
    for sample in range(count):
        one = [a if k else a[sample] for a, k in zip(ins, known, strict=True)]
        expected = (op.quickly(one) if isinstance(op, Summing) else op.evaluate(one))[0]
        assert made[sample].shape == expected.shape
        np.testing.assert_allclose(made[sample], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", OTHERS)
def test_samples_do_not_meet(name: str) -> None:
    op, shapes, constants = OTHERS[name]
    random = np.random.default_rng(2)
    made = {len(shapes) + i: random.normal(size=s).astype(np.float32) for i, s in enumerate(constants)}
    assert_same(op, (*shapes, *constants), made)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_samples_of_products_do_not_meet(name: str, batch: int) -> None:
    op, x, w, place = CASES[name]
    x = x if len(x) < 3 or not place else (batch, *x[1:])
    weights = np.random.default_rng(3).normal(size=w).astype(np.float32)
    if name == "matrices" and batch == 1:
        return
    assert_same(op, (x, w) if place else (w, x), {place: weights})


def test_what_depends_on_constants_only_is_run_once() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    graph = graph_of(Function("Relu"), ((2, 3),), {0: x})
    (made,) = run_node(graph, graph.nodes[0], [x], [True])
    np.testing.assert_array_equal(made, x)


def test_numbers_are_held_as_by_quantize_and_dequantize() -> None:
    x = np.random.default_rng(4).normal(0, 3, (50, 7)).astype(np.float32)
    for dtype, scale, zero, bits in (("int8", 0.037, -5, 0), ("uint8", 0.1, 128, 4), ("int16", 1e-4, 0, 0)):
        stored = Stored(np.dtype(dtype), np.array(scale, np.float32), np.array(zero, np.int64), bits=bits)
        expected = Dequantize(stored).evaluate(Quantize(stored).evaluate([x]))[0]
        np.testing.assert_array_equal(hold(x, stored), expected)
