"""Scales of a model's nodes, checked.

Decides: what a legal scale is, and along which axis a per-axis scale lies.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from codegen.errors import QuantAxisBad, ScaleBad
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.ir.quant import Array


class Constants(Protocol):
    """What reads a node's constant inputs."""

    def const(self, node: OnnxNode, index: int) -> Array:
        """Numbers of a required one."""
        ...

    def note(self, text: str) -> None:
        """Tell the user, once."""
        ...


def read_scale(ctx: Constants, node: OnnxNode, index: int, *, constant: bool = False) -> Array:
    """Scales as float32, of rank 0 or 1: normal numbers above zero, of a `constant` any but negative ones.

    A channel whose weights are all zero often has a scale of next to nothing, and its bias one of still less.
    """
    scale = ctx.const(node, index)
    tensor = node.inputs[index]
    if scale.dtype.kind != "f":
        raise ScaleBad(f"scale '{tensor}' has type {scale.dtype}", where=node.where)
    if scale.ndim > 1:
        hint = "block-wise scales are not supported: quantize per tensor or per axis"
        raise QuantAxisBad(f"scale '{tensor}' has shape {list(scale.shape)}", where=node.where, hint=hint)
    with np.errstate(all="ignore"):
        scale = scale.astype(np.float32)
    good = np.isfinite(scale) & (scale >= (np.float32(0) if constant else np.finfo(np.float32).tiny))
    if not scale.size or not good.all():
        found = scale[~good].flat[0] if scale.size else "empty"
        raise ScaleBad(f"scale '{tensor}' is {found}", where=node.where)
    return scale


def fitting_axis(ctx: Constants, node: OnnxNode, shape: tuple[int, ...], count: int, axis: int) -> int:
    """The axis of a per-axis scale; another one is taken, with a note, when it is the only one that fits."""
    if len(shape) == 1 and axis == 1 and shape[0] == count:
        return 0  # the default axis, which some exporters leave as it is for biases
    if not -len(shape) <= axis < len(shape):
        raise QuantAxisBad(f"axis {axis} of a tensor of shape {list(shape)}", where=node.where)
    given = axis % len(shape)
    if shape[given] == count:
        return given
    others = [i for i, n in enumerate(shape) if n == count]
    if len(others) != 1:
        raise QuantAxisBad(f"{count} scales along axis {axis} of a tensor of shape {list(shape)}", where=node.where)
    taken = f"axis {others[0]} is taken, the only one that fits"
    ctx.note(f"{node.where}: axis {given} does not fit {count} scales; {taken}")
    return others[0]
