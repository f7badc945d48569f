"""Operators on one image of a batch: what they say they do with it is what they do with all of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

import numpy as np
import pytest

import codegen.real
from codegen.ir.quant import Array
from codegen.ir.real import RealOp, RealType, Stored
from codegen.ir.shape import Window
from codegen.real.along import Hardmax, TopK
from codegen.real.bits import BitCast, BitwiseNot, CastNarrow, IsInf, IsNaN
from codegen.real.cumulative import CumulativeProduct, CumulativeSum
from codegen.real.elementwise import AddN, Binary, Cast, Clip, Function, Not, PRelu, Where
from codegen.real.images import one_image
from codegen.real.integer import ConvInteger
from codegen.real.movement import (
    Concat,
    DepthToSpace,
    Expand,
    Gather,
    Pad,
    Pick,
    Reshape,
    Slice,
    SpaceToDepth,
    Tile,
    Transpose,
)
from codegen.real.normal import BatchNorm, InstanceNorm, LayerNorm, LocalResponseNorm, LpNorm
from codegen.real.product import Dense, Gemm, MatMul
from codegen.real.reduce import ArgExtremum, Reduce, Softmax
from codegen.real.resize import Resize
from codegen.real.storage import Dequantize, Quantize, Restore
from codegen.real.taps import Stretch
from codegen.real.unpool import LpPool
from codegen.real.window import AveragePool, Conv, ConvTranspose, MaxPool

N = 3
"""Images."""
Given = tuple[tuple[int, ...] | Array, bool]
"""An input: real numbers of a shape, or an array, and whether its first axis is the batch."""

HELD = Stored(np.dtype(np.int8), np.float32([0.1]), np.array([3]))
ALONG = Stored(np.dtype(np.int8), np.float32([0.1, 0.2, 0.3]), np.array([3, 0, -1]), axis=0)
TWO = (Window(2, pad_before=1), Window(3, stride=2))
WHOLE = np.arange(N * 8, dtype=np.int32).reshape(N, 2, 4)
BYTES = np.arange(N * 50, dtype=np.uint8).reshape(N, 2, 5, 5)


def own(*shape: int) -> Given:
    return (N, *shape), True


def read(*shape: int) -> Given:
    return shape, False


APART: Sequence[tuple[RealOp, Sequence[Given]]] = (
    (Function("Relu"), [own(2, 4)]),
    (Clip(-0.5, 0.5), [own(4)]),
    (Not(), [(WHOLE > 5, True)]),
    (Cast("int32"), [own(2)]),
    (IsNaN(), [own(2)]),
    (IsInf(), [own(2)]),
    (BitwiseNot(), [(WHOLE, True)]),
    (BitCast("float32"), [(WHOLE, True)]),
    (CastNarrow("int8", 4), [(WHOLE % 8, True)]),
    (Binary("Add"), [own(2, 4), own(2, 1)]),
    (Binary("Sub"), [read(2, 4), own(2, 4)]),
    (Binary("Mul"), [own(2, 4), read(1, 2, 4)]),
    (AddN(), [own(2), own(2), own(2)]),
    (PRelu(), [own(2, 4), read(2, 1)]),
    (Where(), [(WHOLE > 9, True), own(2, 4), read(4)]),
    (Reshape((N, 8)), [own(2, 4)]),
    (Transpose((0, 2, 1)), [own(2, 4)]),
    (Concat(2), [own(2, 4), own(2, 1)]),
    (Slice((0, 1, 3), (N, 1, 2), (1, 1, -2)), [own(2, 4)]),
    (Pad((0, 1, 0), (0, 0, 2), "edge"), [own(2, 4)]),
    (Expand((N, 2, 4)), [own(1, 4)]),
    (Expand((2, 4)), [own(1, 4)]),
    (Tile((1, 2, 1)), [own(2, 4)]),
    (Gather(2), [own(2, 4), (np.array([[3, 0]]), False)]),
    (Gather(0), [read(30, 2), (WHOLE, True)]),
    (Pick((None, (1,), (3, 0))), [own(2, 4)]),
    (DepthToSpace(2), [own(8, 2, 3)]),
    (SpaceToDepth(2), [own(2, 4, 6)]),
    (BatchNorm(), [own(2, 4, 4), read(2), read(2), read(2), (np.float32([1, 2]), False)]),
    (InstanceNorm(), [own(2, 4, 4), read(2), read(2)]),
    (LayerNorm(1), [own(2, 4), read(2, 4), read(4)]),
    (LocalResponseNorm(3), [own(4, 2, 2)]),
    (LpNorm(2), [own(2, 4)]),
    (Dense(), [own(2, 4), read(5, 4), read(5)]),
    (MatMul(), [own(4), read(4, 2)]),
    (MatMul(), [own(4), read(4)]),
    (MatMul(), [own(2, 4), own(4, 3)]),
    (MatMul(), [own(2, 4), read(1, 4, 3)]),
    (MatMul(), [read(2, 4), own(4, 3)]),
    (Gemm(turn_b=True), [own(4), read(2, 4), read(1, 2)]),
    (Gemm(), [own(4), read(4, 2)]),
    (Reduce("Mean", (1,), keep=False), [own(2, 4)]),
    (ArgExtremum(2), [own(2, 4)]),
    (Softmax((1, 2)), [own(2, 4)]),
    (Hardmax((2,)), [own(2, 4)]),
    (TopK(2, 2), [own(2, 4)]),
    (CumulativeSum(1), [own(2, 4)]),
    (CumulativeProduct(2), [own(2, 4)]),
    (Conv(TWO, groups=2), [own(4, 5, 5), read(6, 2, 2, 3), read(6)]),
    (ConvTranspose(TWO, (6, 11)), [own(4, 5, 5), read(4, 2, 2, 3)]),
    (MaxPool(TWO), [own(2, 5, 5)]),
    (AveragePool(TWO), [own(2, 5, 5)]),
    (LpPool(TWO), [own(2, 5, 5)]),
    (ConvInteger(TWO), [(BYTES, True), (BYTES[:, :, :2, :3], False), (np.uint8([3]), False), (np.uint8([4]), False)]),
    (Resize((None, None, Stretch(7, 7 / 4)), "linear"), [own(2, 4)]),
    (Quantize(HELD), [own(2, 4)]),
    (Dequantize(HELD), [(WHOLE.astype(np.int8), True)]),
    (Restore(), [own(2)]),
)
MIXED: Sequence[tuple[RealOp, Sequence[Given]]] = (
    (Binary("Add"), [own(2, 4), read(N, 2, 4)]),
    (Binary("Add"), [own(4), read(N, 2, 4)]),
    (Binary("Add"), [own(4), own(N, 4)]),
    (Reshape((2 * N, 4)), [own(2, 4)]),
    (Reshape((2, N, 4)), [own(2, 4)]),
    (Transpose((1, 0, 2)), [own(2, 4)]),
    (Concat(0), [own(2), own(2)]),
    (Concat(1), [own(2), read(N, 2)]),
    (Slice((1, 0), (2, 2), (1, 1)), [own(2)]),
    (Slice((N - 1, 0), (N, 2), (-1, 1)), [own(2)]),
    (Pad((1, 0), (0, 0)), [own(2)]),
    (Expand((2, N, 2)), [own(2)]),
    (Tile((2, 1)), [own(2)]),
    (Gather(0), [own(2), (np.array([0, 1, 1]), False)]),
    (Gather(1), [own(2), (WHOLE % 2, True)]),
    (Pick(((0, 2, 1), None)), [own(2)]),
    (BatchNorm(), [own(), read(1), read(1), read(1), read(1)]),
    (LayerNorm(0), [own(2), read(2)]),
    (LpNorm(0), [own(2)]),
    (Dense(), [own(), read(5, N)]),
    (Dense(), [read(2, 4), own(4)]),
    (MatMul(), [own(), read(N, 2)]),
    (MatMul(), [read(2, N), own(4)]),
    (MatMul(), [own(4), read(2, 4, 2)]),
    (MatMul(), [own(2, 4), read(N, 4, 2)]),
    (Gemm(turn_a=True), [own(4), read(N, 2)]),
    (Gemm(), [own(4), read(4, 2), read(N, 2)]),
    (Reduce("Sum", (0, 1)), [own(2)]),
    (ArgExtremum(0), [own(2)]),
    (Softmax((0,)), [own(2)]),
    (TopK(2, 0), [own(2)]),
    (CumulativeSum(0), [own(2)]),
    (Conv(TWO), [read(1, 4, 5, 5), own(4, 2, 3)]),
    (Resize((Stretch(2 * N, 2.0), None)), [own(2)]),
    (Quantize(ALONG), [own(2)]),
    (Dequantize(ALONG), [(WHOLE.astype(np.int8), True)]),
)


def arrays(given: Sequence[Given]) -> list[Array]:
    rng = np.random.default_rng(7)
    shaped = (rng.normal(0, 1, x).astype(np.float32) if isinstance(x, tuple) else x for x, _ in given)
    return list(shaped)


def said(op: RealOp, given: Sequence[Given]) -> RealOp | None:
    return one_image(op, [RealType(x.shape, x.dtype) for x in arrays(given)], [apart for _, apart in given])


def name(case: object) -> str:
    return type(case).__name__ if not isinstance(case, list) else ""


@pytest.mark.parametrize(("op", "given"), APART, ids=name)
def test_each_image_alone_gives_its_part(op: RealOp, given: Sequence[Given]) -> None:
    one, ins = said(op, given), arrays(given)
    assert one is not None
    together = op.evaluate(ins)
    for image in range(N):
        parts = [x[image : image + 1] if apart else x for x, (_, apart) in zip(ins, given, strict=True)]
        for whole, alone in zip(together, one.evaluate(parts), strict=True):
            assert np.array_equal(whole[image : image + 1], alone, equal_nan=True)
            assert whole.dtype == alone.dtype


@pytest.mark.parametrize(("op", "given"), MIXED, ids=name)
def test_images_that_are_mixed_stay_together(op: RealOp, given: Sequence[Given]) -> None:
    assert said(op, given) is None


def test_every_operator_that_answers_is_tried() -> None:
    found = set()
    for module in pkgutil.iter_modules(codegen.real.__path__, "codegen.real."):
        made = vars(importlib.import_module(module.name)).values()
        found |= {kind for kind in made if isinstance(kind, type) and hasattr(kind, "one_image")}
    assert found == {type(op) for op, _ in APART}


def test_an_operator_that_says_nothing_mixes() -> None:
    class Silent:
        def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
            return (ins[0],)

        def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
            return (ins[0],)

    assert said(Silent(), [own(2)]) is None
