"""DepthToSpace and SpaceToDepth: blocks of pixels from channels, and back.

DepthToSpace  [N, H, W, C] -> [N, H*B, W*B, C/B^2];  y[h*B+i, w*B+j, c] = x[h, w, k] with
              DCR: k = (i*B + j) * (C/B^2) + c        CRD: k = c*B^2 + i*B + j
SpaceToDepth  [N, H, W, C] -> [N, H/B, W/B, C*B^2];  y[h, w, (i*B + j)*C + c] = x[h*B+i, w*B+j, c]

Any element type; the meaning of the integers passes through.  Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from codegen.ir.op import Limit, RowRule
from codegen.ir.quant import Array, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs
from codegen.ops.limits import feature_map, require
from codegen.records import record


@record
class DepthToSpace:
    """Channels become blocks of pixels."""

    block: int
    mode: Literal["DCR", "CRD"]

    moves_only: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = feature_map(self, ins)
        n, h, w, c = x.shape
        area = self.block**2
        require(self.block > 0 and c % area == 0, self, f"{c} channels do not make blocks of {area} pixels")
        return (replace(x, shape=(n, h * self.block, w * self.block, c // area)),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        n, h, w, c = ins[0].shape
        b = self.block
        if self.mode == "DCR":
            y = ins[0].reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
        else:
            y = ins[0].reshape(n, h, w, c // (b * b), b, b).transpose(0, 1, 4, 2, 5, 3)
        return (np.ascontiguousarray(y.reshape(n, h * b, w * b, c // (b * b))),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Each input row makes `block` output rows."""
        return RowRule(div=self.block)

    macs = no_macs
    in_place = never_in_place


@record
class SpaceToDepth:
    """Blocks of pixels become channels."""

    block: int

    moves_only: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = feature_map(self, ins)
        n, h, w, c = x.shape
        b = self.block
        require(b > 0 and h % b == 0 and w % b == 0, self, f"{h} x {w} pixels do not divide into blocks of {b}")
        return (replace(x, shape=(n, h // b, w // b, c * b * b)),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        n, h, w, c = ins[0].shape
        b = self.block
        y = ins[0].reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
        return (np.ascontiguousarray(y.reshape(n, h // b, w // b, c * b * b)),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """`block` input rows make one output row."""
        return RowRule(taps=self.block, mul=self.block)

    macs = no_macs
    in_place = never_in_place
