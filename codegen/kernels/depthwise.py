"""Depthwise convolution (one filter per channel), channels in blocks; weights [KH, KW, C].

Those of few bits become bytes for a row, or are taken out of bytes that channels share while each is summed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.common import requant_fields
from codegen.kernels.conv2d import ConvContext, conv_literals, fit_depthwise_planes, is_depthwise
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import filled_to
from codegen.kernels.planes import FewWeights, Unpacked, few_headers, few_weights, less_field, plain
from codegen.kernels.sizes import InBlocks
from codegen.kernels.weighted import weighted
from codegen.ops import Conv2D
from codegen.records import record

_FEW_ORDER = "those of a block of channels after each other, [rows][columns]"


@record(kw_only=True)
class DepthwiseContext(InBlocks, ConvContext):
    """Literals of one depthwise convolution; `unpacked`: its weights have few bits."""

    unpacked: Unpacked | None = None

    @property
    def parted(self) -> tuple[int, int]:
        """Channels, and those that are summed at a time."""
        return self.c_in, min(self.c_in, 16)

    @property
    def unpacked_tap(self) -> int:
        """From the weights of one tap of a block to those of the next, once they are bytes."""
        return self.unpacked.filled(self.block) if self.unpacked else 0


def _fit(node: NodeOf[Conv2D]) -> Fit | None:
    sums = weighted(node, apart=True)
    if sums is None or not is_depthwise(node):
        return None
    few = few_weights(node.ins[1], sums.weights)
    k = DepthwiseContext(**conv_literals(node, sums), unpacked=few.unpacked if few else None)
    zero = sums.zero_fields(padded=k.has_edges)
    stored = _few_fields(few, k) if few else (_field(sums.weights),)
    params = (sums.bias_field(), *zero, *requant_fields(node.op.requant), *stored)
    scratch = Scratch("weights", k.kernel_h * k.kernel_w * k.unpacked_tap)
    return Fit(k, params, (scratch,), plain(few), headers=(*k.rq.headers, *few_headers(few)))


def _few_fields(few: FewWeights, k: DepthwiseContext) -> tuple[Field, ...]:
    """Those of a block of channels after each other, and of these tap by tap."""
    u, weights = few.unpacked, few.numbers.reshape(len(few.numbers), -1).T
    size = k.kernel_h * k.kernel_w * (k.blocked // k.block * u.elements(k.block) + u.elements(k.rest))
    less = () if few.less is None else (less_field(filled_to(few.less, u.in_turn, axis=0)),)
    return (*less, Field.later("weights", np.uint8, size, lambda: _by_block(weights, u, k.block), _FEW_ORDER))


def _by_block(weights: Array, unpacked: Unpacked, block: int) -> Array:
    """Weights [taps, channels]: each byte has some of a block that lie its number of bytes apart."""
    parts = (weights[:, first : first + block] for first in range(0, weights.shape[1], block))
    return np.concatenate([unpacked.halves(part).reshape(-1) for part in parts])


def _field(weights: Array) -> Field:
    return Field.later("weights", weights.dtype, weights.size, lambda: _by_tap(weights), "[rows][columns][channels]")


def _by_tap(weights: Array) -> Array:
    return np.ascontiguousarray(weights[:, :, :, 0].transpose(1, 2, 0)).reshape(-1)


DEPTHWISE = Kernel("depthwise", "depthwise.c.j2", "row", (Conv2D,), _fit, program_memory=True)

PLANES: tuple[Kernel[Conv2D], ...] = tuple(
    Kernel("depthwise_planes", "conv2d.c.j2", "row", (Conv2D,), fit_depthwise_planes, frozenset({core}))
    for core in ("armv6m", "armv7m", "rv32")
)
"""For weights of few bits, on cores that sum one channel at a time: where vectors hold channels, bytes are faster."""

KERNELS: tuple[Kernel[Any], ...] = (*PLANES, DEPTHWISE)
