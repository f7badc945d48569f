"""Layers that multiply by constants, of every kind, each in a graph of its own."""

from __future__ import annotations

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealOp, RealType, RealValue
from codegen.ir.shape import Window
from codegen.quantizer.products import Product, products
from codegen.real.product import Gemm, MatMul
from codegen.real.window import Conv, ConvTranspose

Case = tuple[RealOp, tuple[int, ...], tuple[int, ...], int]

CASES: dict[str, Case] = {
    "conv": (Conv((Window(3, 2, 1, 1, 0), Window(2, 1, 2, 1, 1))), (2, 4, 7, 6), (5, 4, 3, 2), 1),
    "grouped": (Conv((Window(3, 1, 1, 1, 1),) * 2, groups=2), (1, 4, 5, 5), (6, 2, 3, 3), 1),
    "depthwise": (Conv((Window(3, 2, 1, 1, 1),) * 2, groups=4), (2, 4, 6, 6), (8, 1, 3, 3), 1),
    "channels last": (Conv((Window(3, 1, 1, 1, 1),) * 2, groups=2, channel_axis=-1), (1, 5, 5, 4), (6, 2, 3, 3), 1),
    "one axis": (Conv((Window(4, 3, 1, 0, 2),)), (1, 3, 11), (2, 3, 4), 1),
    "three axes": (Conv((Window(2),) * 3), (1, 2, 3, 4, 3), (3, 2, 2, 2, 2), 1),
    "transposed": (ConvTranspose((Window(3, 2, 1, 1, 1), Window(2, 2)), (9, 8)), (2, 3, 5, 4), (3, 4, 3, 2), 1),
    "transposed, grouped": (
        ConvTranspose((Window(3, 2, 2, 1, 1),) * 2, (9, 9), groups=2),
        (1, 4, 4, 4),
        (4, 3, 3, 3),
        1,
    ),
    "gemm": (Gemm(turn_b=True), (3, 5), (4, 5), 1),
    "gemm, straight": (Gemm(), (3, 5), (5, 4), 1),
    "gemm, turned input": (Gemm(turn_a=True), (5, 3), (5, 4), 1),
    "matrix": (MatMul(), (2, 3, 5), (5, 4), 1),
    "matrices": (MatMul(), (2, 3, 5), (2, 5, 4), 1),
    "matrix on the left": (MatMul(), (5, 3), (4, 5), 0),
    "gemm on the left": (Gemm(turn_a=True, turn_b=True), (3, 5), (5, 4), 0),
}


def product_of(case: Case, weights: Array) -> Product:
    """The layer of a graph of one node."""
    op, x, _, place = case
    names = ("w", "x") if place == 0 else ("x", "w")
    node = RealNode("n", op, names, ("y",), "n", "N")
    values = {
        "x": RealValue("x", RealType(x)),
        "w": RealValue("w", RealType(weights.shape), weights),
        "y": RealValue("y", RealType(())),
    }
    (found,) = products(RealGraph("g", values, (node,), ("x",), ("y",), "onnx"))
    return found
