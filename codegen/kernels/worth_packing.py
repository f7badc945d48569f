"""Layers whose weights of few bits are packed on a chip: those where that saves more flash than code for it takes.

Convolutions without groups and dense layers, and depthwise ones that compilers make vectors of.  Kernels see the others
as layers of bytes.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.op import NodeView
from codegen.ir.quant import DType, TensorType
from codegen.kernels.kernel import Features
from codegen.kernels.planes import UNPACKS
from codegen.kernels.weighted import BYTES
from codegen.ops import Conv2D, Dense
from codegen.records import record

_BYTE = 8
_LEAST_CHANNELS = 32
"""So many have vectors take the weights of a depthwise row of 16-bit data apart sooner than they take bytes."""
_WRITES_OUT = frozenset({"dsp", "mve"})
_TAPS, _SPARED = 3, 36
"""Taps of such a row of one pixel there, and bytes that are not worth up to a third more instructions."""
_SUMS_ONE = frozenset({"armv7m", "rv32"})
_FOUR, _LITTLE = 4, 80
"""Channels whose sums over bytes compilers keep in registers there, and bytes not worth up to half as much more."""


@record
class Summed:
    """Instructions for four inputs of 16 bits, or eight, where functions sum them for outputs on chips with a feature.

    Of weights in bytes for four outputs, two and one; of few bits for four, and two of 4 bits; for the inputs' own sum.
    """

    feature: str
    bytes: tuple[int, int, int]
    few: tuple[int, int]
    total: int

    def in_bytes(self, outputs: int) -> int:
        """Those for so many outputs by bytes."""
        four, two, one = self.bytes
        return four * (outputs // 4) + two * (outputs % 4 // 2) + one * (outputs % 2)

    def in_few(self, outputs: int, bits: int) -> int:
        """The same by few bits, whose filters have as many outputs as a byte has fields."""
        filters = -(-outputs * bits // _BYTE)
        together = 2 if bits > 2 else 1
        return self.few[0] * (filters // together) + self.few[1] * (filters % together) + self.total


_SUMMED = (Summed("dsp", (19, 12, 7), (20, 11), 6), Summed("mve", (9, 5, 3), (9, 5), 2))
_MOST = 1.25
"""Times the instructions of bytes that few bits may take there."""


@record
class Unpacking:
    """What code for weights of few bits takes more on chips with a feature, about: `code` bytes, 0 for none.

    `data`: the bits of inputs and outputs.  Layers of fewer than `outputs` outputs are packed however few weights they
    have.  `turn`: an output's weights are filled to multiples of it.
    """

    feature: str
    data: int
    code: int
    outputs: int = 1
    turn: int = 1


UNPACKING = (
    Unpacking("mve", 8, 0),
    Unpacking("mve", 16, 80),
    Unpacking("dsp", 8, 160, 2),
    Unpacking("dsp", 16, 40, turn=4),
    Unpacking("armv7m", 8, 96, 2),
    Unpacking("armv6m", 8, 96, 2),
    Unpacking("rv32", 8, 96),
    Unpacking("rv32", 16, 160),
    Unpacking("x86", 16, 24),
)
"""The first one whose feature a chip has is its own; others pack all.  Counted over drawn layers.

On Arm cores an output alone takes less code by few bits than by bytes.
"""


def is_packed(node: NodeView, features: Features, unpacking: tuple[Unpacking, ...]) -> bool:
    """Whether kernels of a chip are to pack weights of few bits, if the node has such."""
    if (features & UNPACKS and _is_narrow(node)) or (features & _WRITES_OUT and _is_short(node)):
        return False
    if features & _SUMS_ONE and _is_small(node):
        return False
    data = _data(node)
    if data == 2 * _BYTE and _is_of_few_outputs(node.ins[1], features):
        return False
    own = next((one for one in unpacking if one.feature in features and one.data == data), None)
    if own is None or not own.code:
        return True
    kind = node.ins[1]
    return kind.shape[0] < own.outputs or _saved(kind, own.turn) > own.code


def in_bytes(node: NodeView) -> NodeView:
    """The node with weights in bytes."""
    x, weights, *others = node.ins
    return replace(node, ins=(x, replace(weights, bits=0, apart=False), *others))


def _data(node: NodeView) -> int:
    """The bits of inputs and outputs where weights have few, and no factors of their own in groups; or 0."""
    op = node.op
    if not isinstance(op, Dense) and not (isinstance(op, Conv2D) and op.groups == 1):
        return 0
    x, kind, y = node.ins[0], node.ins[1], node.outs[0]
    if kind.dtype is not DType.S8 or not kind.bits or kind.block:
        return 0
    ends = {x.dtype, y.dtype}
    return _BYTE if ends <= set(BYTES) else 2 * _BYTE if ends == {DType.S16} else 0


def _is_of_few_outputs(kind: TensorType, features: Features) -> bool:
    """Whether 16-bit data has so few outputs that bytes take less.

    In plain C an output alone has each byte to itself; where functions sum, the inputs' own sum is much of few.
    """
    outputs = kind.shape[0]
    summed = next((one for one in _SUMMED if one.feature in features), None)
    return outputs == 1 or (summed is not None and summed.in_few(outputs, kind.bits) > _MOST * summed.in_bytes(outputs))


def _is_narrow(node: NodeView) -> bool:
    """Whether a depthwise convolution of 16-bit data has few channels, or an output of one column."""
    y = node.outs[0]
    return _is_wide_depthwise(node) and (y.shape[3] < _LEAST_CHANNELS or y.shape[2] == 1)


def _is_short(node: NodeView) -> bool:
    """Whether such a one has so few channels and taps, in one column, that compilers write all of bytes out."""
    if not _is_wide_depthwise(node):
        return False
    kind, (_, _, width, channels) = node.ins[1], node.outs[0].shape
    return width == 1 and channels < _LEAST_CHANNELS and kind.elements <= _TAPS * channels and _saved(kind) <= _SPARED


def _is_small(node: NodeView) -> bool:
    """Whether such a one has four channels or fewer, and packing saves little."""
    return _is_wide_depthwise(node) and node.outs[0].shape[3] <= _FOUR and _saved(node.ins[1]) <= _LITTLE


def _is_wide_depthwise(node: NodeView) -> bool:
    """Whether it is a depthwise convolution of 16-bit data by weights of few bits."""
    op = node.op
    if not isinstance(op, Conv2D):
        return False
    x, y = node.ins[0], node.outs[0]
    if not op.groups == x.shape[3] == y.shape[3] > 1:
        return False
    return node.ins[1].bits > 0 and {x.dtype, y.dtype} == {DType.S16}


def _saved(kind: TensorType, turn: int = 1) -> int:
    """Bytes that packing saves: several numbers share one, and a zero point of an output's own takes one."""
    outputs = kind.shape[0]
    filled = -(-kind.elements // outputs // turn) * turn * outputs
    return kind.elements + -filled * kind.bits // _BYTE - kind.apart * outputs
