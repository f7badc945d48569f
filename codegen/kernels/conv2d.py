"""Convolution of any kind: groups, dilation, strides, pads.

One output row per call; weights [Cout, KH, KW, Cin/groups].
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.shape import Window
from codegen.kernels.called import CALLED, Functions, called_sums
from codegen.kernels.common import RequantContext, requant_context, requant_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.planes import (
    SHORT,
    UNPACKS,
    FewWeights,
    Filters,
    Laid,
    Unpacked,
    few_headers,
    few_weights,
    filled,
    plain,
)
from codegen.kernels.sizes import GroupSizes
from codegen.kernels.weighted import Weighted, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

_WORD, _LONG_WORD = 4, 8
"""Bytes of what registers hold."""
_WORTH_A_COPY = 3
"""So many outputs are made sooner from a copy of a window whose runs fill vectors."""


@record(kw_only=True)
class GroupedContext(GroupSizes):
    """Types and sizes of a convolution in groups, forward or transposed; `planes`: how outputs share weights."""

    x_t: str
    w_t: str
    y_t: str
    acc_t: str
    w_in: int
    w_out: int
    rq: RequantContext
    planes: Filters | None = None


@record(kw_only=True)
class ConvContext(GroupedContext):
    """Literals of one convolution.  Output columns [left, right) have no tap in the padding.

    `skips`: other columns leave out taps in the padding, which are of no account: they hold zero, or it is taken off.
    """

    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int
    left: int
    right: int
    skips: bool = False

    @property
    def filter(self) -> int:
        """Weights of one output channel."""
        return self.kernel_h * self.kernel_w * self.c_group

    @property
    def run(self) -> int:
        """Inputs that the taps of one kernel row take."""
        return self.kernel_w * self.c_in

    @property
    def tap_step(self) -> int:
        """Elements from the inputs of one tap of a kernel row to those of the next."""
        return self.dilation * self.c_in

    @property
    def contiguous(self) -> bool:
        """Whether the taps of one kernel row are one run of memory."""
        return self.groups == 1 and self.dilation == 1

    @property
    def summed(self) -> int:
        """Inputs that one loop sums."""
        return self.run if self.contiguous else self.c_group

    @property
    def has_edges(self) -> bool:
        """Whether any output column reads padding at its left or right."""
        return self.left > 0 or self.right < self.w_out


@record(kw_only=True)
class UnpackedContext(ConvContext):
    """Literals of one whose weights of few bits become bytes, output by output."""

    unpacked: Unpacked


@record(kw_only=True)
class WindowContext(ConvContext):
    """Literals of one whose windows are copied before they are summed: `filled` inputs for those of a window."""

    filled: int


def inner_columns(w: Window, w_in: int, w_out: int) -> tuple[int, int]:
    """Output columns [left, right) whose taps all lie inside the input row."""
    left = min(w_out, -(-w.pad_before // w.stride))
    right = (w_in - w.extent + w.pad_before) // w.stride + 1
    return left, max(left, min(w_out, right))


def conv_literals(node: NodeOf[Conv2D], sums: Weighted) -> dict[str, Any]:
    """Literals that the templates of all convolutions have."""
    op, x, w, y = node.op, node.ins[0], node.ins[1], node.outs[0]
    left, right = inner_columns(op.w, x.shape[2], y.shape[2])
    return {
        "x_t": x.dtype.ctype,
        "w_t": w.dtype.ctype,
        "y_t": y.dtype.ctype,
        "acc_t": sums.acc_t,
        "w_in": x.shape[2],
        "c_in": x.shape[3],
        "w_out": y.shape[2],
        "c_out": y.shape[3],
        "kernel_h": op.h.size,
        "kernel_w": op.w.size,
        "stride": op.w.stride,
        "dilation": op.w.dilation,
        "pad": op.w.pad_before,
        "groups": op.groups,
        "left": left,
        "right": right,
        "rq": requant_context(op.requant, wide=sums.wide),
    }


def is_depthwise(node: NodeOf[Conv2D | Dense]) -> TypeGuard[NodeOf[Conv2D]]:
    """Whether each channel has one filter of its own."""
    return isinstance(node.op, Conv2D) and node.op.groups == node.ins[0].shape[3] == node.outs[0].shape[3] > 1


def padded_row(node: NodeOf[Conv2D]) -> tuple[int, int, int]:
    """Pixels before, of and after the input in a row that serves every output column."""
    w, w_in, w_out = node.op.w, node.ins[0].shape[2], node.outs[0].shape[2]
    needed = (w_out - 1) * w.stride + w.extent
    before = min(w.pad_before, needed)
    inner = min(w_in, needed - before)
    return before, inner, needed - before - inner


def is_pointwise(op: Conv2D | Dense) -> bool:
    """Whether each output pixel is made of the input pixel at its own place."""
    if isinstance(op, Dense):
        return True
    return op.groups == 1 and all(w.size == w.stride == 1 and w.pad_before == w.pad_after == 0 for w in (op.h, op.w))


def _fit(node: NodeOf[Conv2D], *, short: bool = False) -> Fit | None:
    sums = weighted(node, apart=True)
    if sums is None:
        return None
    few = few_weights(node.ins[1], sums.weights) if node.op.groups == 1 else None
    return _fit_planes(node, sums, few, short=short)


def _fit_planes(node: NodeOf[Conv2D], sums: Weighted, few: FewWeights | None, *, short: bool = False) -> Fit:
    """With bytes that outputs share where weights have few bits."""
    k, laid = ConvContext(**conv_literals(node, sums)), Laid((sums.plain_weights(),))
    if few:
        shared = node.op.groups == 1
        groups = node.op.groups
        planes = few.shared_planes(sums, k.summed, short=short) if shared else few.planes(k.c_out, groups=groups)
        k, laid = replace(k, planes=planes, skips=_skips(node, sums)), few.laid(planes)
    params = (*_numbers(node, sums, k), *laid.stored)
    return Fit(k, params, why=laid.why, headers=(*k.rq.headers, *laid.headers))


def fit_depthwise_planes(node: NodeOf[Conv2D]) -> Fit | None:
    """Each channel's sum stays in a register, and its weights are taken out of a byte as they are wanted."""
    sums = weighted(node, apart=True)
    few = few_weights(node.ins[1], sums.weights) if sums else None
    return _fit_planes(node, sums, few) if sums and few and is_depthwise(node) else None


def _fit_unpacked(node: NodeOf[Conv2D], *, word: int = 0, own: bool = True) -> Fit | None:
    """The weights of one output become bytes before a row of it is made: outputs do not all have the same inputs.

    `word`: so many bytes at a time, where filters have as many; `own`: also those with zero points of their own.
    """
    sums = weighted(node, apart=True)
    few = few_weights(node.ins[1], sums.weights) if sums else None
    if sums is None or few is None or node.op.groups == 1:
        return None
    unpacked = replace(few.unpacked, word=word)
    k = UnpackedContext(**conv_literals(node, sums), unpacked=unpacked, skips=_skips(node, sums))
    if word and (not unpacked.in_words(unpacked.elements(k.filter)) or (unpacked.own and not own)):
        return None
    params = (*_numbers(node, sums, k), *few.less_fields(), few.in_runs(unpacked))
    scratch = Scratch("weights", few.unpacked.filled(k.filter))
    headers = (*k.rq.headers, *(few_headers(few) if word or k.unpacked.own else ()))
    return Fit(k, params, (scratch,), plain(few), headers=headers)


def _fit_window(node: NodeOf[Conv2D]) -> Fit | None:
    """Vectors sum all inputs of a pixel, from a copy, for outputs that share bytes.

    Of few outputs where inputs do not fill them as they lie.
    """
    sums = weighted(node, apart=True)
    few = few_weights(node.ins[1], sums.weights) if sums else None
    if sums is None or few is None or node.op.groups > 1:
        return None
    inputs = few.numbers[0].size
    planes = few.vector_planes(sums)
    run = ConvContext(**conv_literals(node, sums)).summed
    if len(sums.weights) < _WORTH_A_COPY and run == filled(run):
        return None
    return _fit_copied(node, sums, few.laid(planes, filled(inputs) - inputs), filled(inputs))


def _fit_called(node: NodeOf[Conv2D], *, functions: Functions) -> Fit | None:
    """Functions of a chip sum all inputs of a pixel, from a copy."""
    made = called_sums(node, functions) if node.op.groups == 1 else None
    return _fit_copied(node, made.sums, made.laid, made.summed) if made else None


def _fit_copied(node: NodeOf[Conv2D], sums: Weighted, laid: Laid, summed: int) -> Fit:
    """So many inputs are summed, from a copy of each window."""
    literals = conv_literals(node, sums)
    k = WindowContext(**literals, planes=laid.planes, skips=_skips(node, sums), filled=summed)
    params = (*_numbers(node, sums, k), *laid.stored)
    scratch = Scratch("window", summed * node.ins[0].dtype.bytes)
    return Fit(k, params, (scratch,), laid.why, headers=(*k.rq.headers, *laid.headers))


def _skips(node: NodeOf[Conv2D], sums: Weighted) -> bool:
    """Whether taps in the padding are of no account."""
    return sums.wide or node.op.x_zero_point == 0


def _numbers(node: NodeOf[Conv2D], sums: Weighted, k: ConvContext) -> tuple[Field, ...]:
    """All params but weights."""
    zeros = sums.zero_fields(padded=k.has_edges and not k.skips, none=bool(k.planes and k.planes.prefix))
    return (sums.bias_field(), *zeros, *requant_fields(node.op.requant))


CONV2D_UNPACKED = Kernel(
    "conv2d_unpacked", "conv2d_unpacked.c.j2", "row", (Conv2D,), _fit_unpacked, program_memory=True
)
_UNPACKED_WORDS = replace(
    CONV2D_UNPACKED,
    make=partial(_fit_unpacked, word=_WORD),
    needs=frozenset({"armv7m"}),
    without=frozenset({"mve"}),
    program_memory=False,
)
_UNPACKED_MVE = replace(
    _UNPACKED_WORDS, make=partial(_fit_unpacked, word=_WORD, own=False), needs=frozenset({"mve"}), without=frozenset()
)
_UNPACKED_X86 = replace(
    _UNPACKED_WORDS, make=partial(_fit_unpacked, word=_LONG_WORD), needs=UNPACKS, without=frozenset()
)
CONV2D_UNPACKED_WORDS = (_UNPACKED_WORDS, _UNPACKED_MVE, _UNPACKED_X86)
"""On chips that read words anywhere; with Helium compilers make vectors of adding zero points of their own to bytes."""
CONV2D_WINDOW = Kernel("conv2d_window", "conv2d_window.c.j2", "row", (Conv2D,), _fit_window, needs=UNPACKS)
CONV2D_CALLED = tuple(
    replace(CONV2D_WINDOW, make=partial(_fit_called, functions=functions), needs=needs) for needs, functions in CALLED
)
"""Of 16-bit data, on chips that multiply 16 bits several at a time."""
CONV2D = Kernel("conv2d", "conv2d.c.j2", "row", (Conv2D,), _fit, program_memory=True)
_SHORT = tuple(
    replace(CONV2D, make=partial(_fit, short=True), needs=needs, without=without, program_memory=False)
    for needs, without in SHORT
)

KERNELS: tuple[Kernel[Any], ...] = (
    *CONV2D_UNPACKED_WORDS,
    CONV2D_UNPACKED,
    *CONV2D_CALLED,
    CONV2D_WINDOW,
    *_SHORT,
    CONV2D,
)
