"""L2Norm: the length of each pixel, then its channels divided by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.common import channels, only_dynamic
from codegen.kernels.kernel import adapted
from codegen.ops import L2Norm
from codegen.ops.l2_norm import OUTPUT_BITS


@dataclass(frozen=True, slots=True)
class NormContext:
    """Elements per pixel, and the fractional bits of the output."""

    channels: int
    bits: int


def _accepts(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, L2Norm) and only_dynamic(node)


def _context(node: NodeView) -> NormContext:
    return NormContext(channels(node.ins[0].shape), OUTPUT_BITS)


def _params(node: NodeView) -> tuple[Field, ...]:
    assert isinstance(node.op, L2Norm)
    return (Field("zero", np.array([node.op.x_zero_point], np.int32)),)


L2_NORM = adapted("l2_norm", "l2_norm.c.j2", "pixels", _accepts, _context, _params)
