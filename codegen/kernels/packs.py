"""Layers whose weights of few bits are packed on a chip: those where that saves more flash than code for it takes.

Convolutions without groups and dense layers, of 8-bit data.  Kernels see the others as layers of bytes.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.op import NodeView
from codegen.ir.quant import DType, TensorType
from codegen.kernels.kernel import Features
from codegen.ops import Conv2D, Dense
from codegen.records import record

_BYTES = (DType.S8, DType.U8)
_BYTE = 8


@record
class Unpacking:
    """What code for weights of few bits takes more on chips with a feature, about: `code` bytes, 0 for none.

    Layers of fewer than `outputs` outputs are packed however few weights they have.
    """

    feature: str
    code: int
    outputs: int = 1


UNPACKING = (
    Unpacking("mve", 0),
    Unpacking("dsp", 160, 2),
    Unpacking("armv7m", 96, 2),
    Unpacking("armv6m", 96, 2),
    Unpacking("rv32", 96),
)
"""The first one whose feature a chip has is its own; others pack all.  Counted over drawn layers.

On Arm cores an output alone takes less code by few bits than by bytes.
"""


def is_packed(node: NodeView, features: Features, unpacking: tuple[Unpacking, ...]) -> bool:
    """Whether kernels of a chip are to pack weights of few bits, if the node has such."""
    own = next((one for one in unpacking if one.feature in features), None)
    if own is None or not own.code or not _may_not(node):
        return True
    kind = node.ins[1]
    return kind.shape[0] < own.outputs or _saved(kind) > own.code


def in_bytes(node: NodeView) -> NodeView:
    """The node with weights in bytes."""
    x, weights, *others = node.ins
    return replace(node, ins=(x, replace(weights, bits=0, apart=False), *others))


def _may_not(node: NodeView) -> bool:
    """Whether weights of 8-bit data have few bits, and no factors of their own in groups."""
    op = node.op
    if not isinstance(op, Dense) and not (isinstance(op, Conv2D) and op.groups == 1):
        return False
    x, kind, y = node.ins[0], node.ins[1], node.outs[0]
    return x.dtype in _BYTES and y.dtype in _BYTES and kind.dtype is DType.S8 and kind.bits > 0 and not kind.block


def _saved(kind: TensorType) -> int:
    """Bytes that packing saves: several numbers share one, and a zero point of an output's own takes one."""
    return kind.elements * (_BYTE - kind.bits) // _BYTE - kind.apart * kind.shape[0]
