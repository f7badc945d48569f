"""FloatSoftmax, along channels pixel by pixel, along another axis over the whole tensor; FloatNormalize."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels
from codegen.kernels.float32.functions import function_headers
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops.float32 import FloatNormalize, FloatSoftmax
from codegen.records import record


@record
class SoftmaxContext:
    """How many blocks there are, as a C expression; elements along the axis, and behind it."""

    outer: str
    depth: int
    inner: int
    log: bool

    @property
    def slice(self) -> int:
        """Elements of a block."""
        return self.depth * self.inner


@record
class NormalizeContext:
    """Elements of a pixel, and whether their mean is taken off."""

    channels: int
    centred: bool


def _fit_pixels(node: NodeOf[FloatSoftmax]) -> Fit | None:
    shape = node.ins[0].shape
    return _fitted(node.op, "n", shape) if node.op.axis == len(shape) - 1 else None


def _fit_row(node: NodeOf[FloatSoftmax]) -> Fit | None:
    shape = node.ins[0].shape
    return _fitted(node.op, "1", shape) if node.op.axis == len(shape) - 2 else None


def _fit_whole(node: NodeOf[FloatSoftmax]) -> Fit:
    shape = node.ins[0].shape
    return _fitted(node.op, str(math.prod(shape[: node.op.axis])), shape)


def _fitted(op: FloatSoftmax, outer: str, shape: tuple[int, ...]) -> Fit:
    context = SoftmaxContext(outer, shape[op.axis], math.prod(shape[op.axis + 1 :]), op.log)
    headers = {*function_headers("maximum"), *function_headers("exp"), *(function_headers("log") if op.log else ())}
    return Fit(context, headers=tuple(sorted(headers)))


def _fit_normalize(node: NodeOf[FloatNormalize]) -> Fit:
    epsilon = Field("epsilon", np.array([node.op.epsilon], np.float32))
    headers = {*function_headers("sqrt"), *function_headers("product")}
    context = NormalizeContext(channels(node.ins[0].shape), node.op.centred)
    return Fit(context, (epsilon,), headers=tuple(sorted(headers)))


_SOFTMAX = "float32/softmax.c.j2"
KERNELS: tuple[Kernel[Any], ...] = (
    Kernel("float_softmax", _SOFTMAX, "pixels", (FloatSoftmax,), _fit_pixels, one_input=True),
    Kernel("float_softmax_row", _SOFTMAX, "row", (FloatSoftmax,), _fit_row, one_input=True),
    Kernel("float_softmax_whole", _SOFTMAX, "whole", (FloatSoftmax,), _fit_whole, one_input=True),
    Kernel("float_normalize", "float32/normalize.c.j2", "pixels", (FloatNormalize,), _fit_normalize, one_input=True),
)
