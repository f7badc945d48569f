"""Pools with places, the way back from them, pools of powers, and Col2Im.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import AttributeBad, FormUnsupported, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.frontends.onnx.real.window import pool_windows, read_windows, spatial_of
from codegen.ir.shape import Window
from codegen.real.unpool import ColumnsToImage, LpPool, MaxPoolPlaces, MaxUnpool
from codegen.real.window import MaxPool
from codegen.settle.builder import MAX_ELEMENTS


def max_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MaxPool, with the places where they are asked for."""
    x, windows = pool_windows(r, node)
    if not any(node.outputs[1:]):
        return [r.apply(MaxPool(windows), [x], node)]
    if x != r.value(node, 0):
        raise FormUnsupported("places of windows shorter than the stride, with auto_pad SAME", where=node.where)
    return r.apply_all(MaxPoolPlaces(windows, node.flag("storage_order")), [x], node)


def max_unpool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MaxUnpool: places count in the map that the attributes give, which is put into the stated one."""
    x = r.value(node, 0)
    spatial = spatial_of(r, node, x)
    windows = read_windows(
        node, r.type(r.value(node, 0)).shape, node.integers("kernel_shape", count=len(spatial), low=1)
    )
    counted = tuple(
        (n - 1) * w.stride - w.pad_before - w.pad_after + w.size for n, w in zip(spatial, windows, strict=True)
    )
    full = (*r.type(x).shape[:2], *counted)
    given = r.integers(node, 2, "")
    return [r.apply(MaxUnpool(full if given is None else given, full), [x, r.value(node, 1)], node)]


def lp_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """LpPool."""
    x, windows = pool_windows(r, node)
    return [r.apply(LpPool(windows, _power(node)), [x], node)]


def global_lp_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GlobalLpPool: one window over everything spatial."""
    x = r.value(node, 0)
    windows = tuple(Window(n) for n in spatial_of(r, node, x))
    return [r.apply(LpPool(windows, _power(node)), [x], node)]


def _power(node: OnnxNode) -> int:
    return node.integer("p", 2, low=1, high=64)


def columns_to_image(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Col2Im."""
    image, block = r.integers(node, 1, ""), r.integers(node, 2, "")
    if not image or not block or len(image) != len(block) or min(*image, *block) < 1:
        raise ShapeMismatch(f"an image {list(image or ())} in blocks {list(block or ())}", where=node.where)
    if float(np.prod(np.array([*image, *block], np.float64))) > MAX_ELEMENTS:
        raise AttributeBad(f"an image {list(image)} in blocks {list(block)}", where=node.where)
    return [r.apply(ColumnsToImage(read_windows(node, (1, 1, *image), block), image), [r.value(node, 0)], node)]


TRANSLATORS: Table = {
    ("", "Col2Im"): columns_to_image,
    ("", "GlobalLpPool"): global_lp_pool,
    ("", "LpPool"): lp_pool,
    ("", "MaxPool"): max_pool,
    ("", "MaxUnpool"): max_unpool,
}
