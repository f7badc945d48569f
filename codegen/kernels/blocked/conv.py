"""Convolution without groups, and dense layers: blocks of pixels x channels in registers, one output row per call.

The taps of one kernel row lie together in memory, so that a block reads its inputs where they are; only blocks over an
edge read copies (gather.py).  Weights: [groups of N channels][taps][N], then the channels left over likewise;
of few bits, those of one tap or several share an element, and a run of taps is filled up to whole ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from codegen.ir.form import Field, Mix, Scratch, Told
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Shape, Window, row_pixels
from codegen.kernels.blocked.cores import Core, chips_of, lined_core, longer_cores, short_core, wide_chips_of
from codegen.kernels.blocked.registers import (
    Choice,
    Work,
    adds_zeros,
    choose,
    code_bytes,
    conv_mix,
    copied_mix,
    in_windows,
    turn_of,
    windows_bytes,
    windows_mix,
    zeros_mix,
)
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.fast import FastRequant
from codegen.kernels.gather import Columns, block_columns, gathered_bytes
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import Fields, filled_to
from codegen.kernels.scaling import Scaling, lined_scaling, plain_scaling
from codegen.kernels.sizes import RunSizes
from codegen.kernels.weighted import Weighted, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

_MOST_ROWS = 32
_TWO_GROUPS = 8
"""Channels of two groups: of no other number is each one summed with as many."""
_POINT = Window(1)
_NAME, _TEMPLATE, _HEADERS = "blocked_conv", "blocked/conv.c.j2", ("lam_order.h",)
_SIMD = frozenset({"pairs"})
"""A feature of all chips of a core's set of instructions that have SIMD."""


@record
class Piece:
    """`count` blocks of `pixels` from output column `first` on; `columns` are what the first one reads, in bytes.

    The outputs of the first one begin at element `y`; a block's inputs lie `x_step` behind the last one's, its outputs
    `y_step`.
    """

    first: int
    pixels: int
    count: int
    columns: Columns
    y: int
    x_step: int
    y_step: int


@record(kw_only=True)
class BlockedContext(RunSizes):
    """Literals of one convolution.

    `shifted`: weights are bytes less a shift; each pixel's sums begin with the shift times the sum of its inputs.
    `each_shifted`: each output has a shift of its own; `each_added`: and it is added to weights as they are taken out.
    `planar`: weights lie channel by channel, and two pixels by two channels are summed by lam_armv6m_sum_2x2.
    `copied`: the inputs of a block are read from scratch, so that its outputs may be stored over them.
    `two_groups`: a single pixel beside larger blocks takes two groups of channels at once.
    `windows`: what each pixel of a piece's first block reads of each of `window_rows` kernel rows, in bytes, where the
    blocks read copies of whole windows: everything else is then that of a pointwise layer of so many inputs.
    `copies_at`: blocks over an edge come first, and read copies that lie from this pixel of the output row on, which
    is stored later; -1 where they lie in scratch.
    """

    x_t: str
    y_t: str
    planar: bool
    channels: int
    sizes: tuple[int, ...]
    pieces: tuple[Piece, ...]
    shifted: bool
    rq: FastRequant
    fields: Fields | None
    each_shifted: bool = False
    each_added: bool = False
    copied: bool = False
    two_groups: bool = False
    windows: tuple[tuple[Columns, ...], ...] = ()
    window_rows: int = 1
    copies_at: int = -1

    @property
    def told(self) -> Told:
        """How many channels there are: each group of them asks."""
        groups = sum(piece.count for piece in self.pieces) * -(-self.c_out // self.channels)
        return Told(("c_out",), row=20.0 * groups)

    @property
    def w_t(self) -> str:
        """The C type that weights are read as."""
        return "int8_t" if self.fields is None else self.fields.ctype

    @property
    def groups(self) -> tuple[tuple[int, int, int], ...]:
        """The groups of channels whose weights lie beside each other."""
        return self.outputs_by(self.channels)

    def summed(self, pixels: int) -> tuple[tuple[int, int, int], ...]:
        """The groups of channels that so many pixels sum at a time."""
        return self.outputs_by(2 * self.channels) if self.two_groups and pixels == 1 else self.groups

    @property
    def taps(self) -> int:
        """Products per output."""
        return self.kernel_h * self.runs * self.run

    def input_at(self, pixel: int, tap: int) -> int:
        """Where a block's pixel finds the input of a tap."""
        return pixel * self.pixel_step + tap

    def weight_at(self, channel: int, tap: int, channels: int) -> int:
        """Where one of `channels` channels finds the weight of a tap."""
        beside = self._beside(channels)
        return channel // beside * beside * self.taps + tap * beside + channel % beside

    def _beside(self, channels: int) -> int:
        """Of so many channels those whose weights of a tap lie beside each other."""
        return 1 if self.planar else min(channels, self.channels)

    def weights_of(self, taps: int, channels: int) -> int:
        """How far so many taps go along the weights."""
        if self.fields is not None:
            return -(-taps // self.fields.in_turn(channels))
        return taps * self._beside(channels)

    def element_of(self, tap: int, channels: int) -> int:
        """The element that has the weights of a tap, counted from that of the first one; -1 if it is read already."""
        assert self.fields is not None, "weights of a byte are read one by one"
        element, before = divmod(tap, self.fields.in_turn(channels))
        return -1 if before else element

    def field_of(self, channel: int, tap: int, channels: int) -> int:
        """The place of a channel's weight in the element that has those of its tap."""
        assert self.fields is not None, "weights of a byte have no fields"
        return tap % self.fields.in_turn(channels) * channels + channel

    def input_bytes(self, pixels: int) -> int:
        """Bytes that so many pixels read, where they read one input pixel each."""
        return pixels * self.pixel_step

    def others_weights(self, channels: int) -> int:
        """Weights of the channels behind those whose weights lie beside the first one's."""
        return (channels - self._beside(channels)) * self.taps

    def sum_at(self, pixel: int, channel: int) -> int:
        """The place of a sum among those of lam_armv6m_sum_2x2."""
        return 2 * pixel + channel

    def output_at(self, pixel: int, channel: int) -> int:
        """Where a block stores the output of a channel."""
        return pixel * self.c_out + channel

    def to_next_run(self, *, looped: bool) -> int:
        """From where the last tap was read to the next run; a loop over turns has moved on by them."""
        return self.run_step - (self.turns * self.unroll if looped else 0)

    def copy_at(self, pixel: int, behind: int = 0) -> int:
        """Where the copy of a pixel's window begins, or what is so many bytes behind that."""
        return pixel * self.run + behind

    @property
    def window_run(self) -> int:
        """Bytes of a window in one kernel row."""
        return self.run // self.window_rows

    @property
    def gathers(self) -> bool:
        """Whether any block reads a copy."""
        return any(not p.columns.inside for p in self.pieces)


def windows(op: Conv2D | Dense) -> tuple[Window, Window]:
    """Down and along the row; a dense layer is a convolution of one tap."""
    return (op.h, op.w) if isinstance(op, Conv2D) else (_POINT, _POINT)


def pieces_of(choice: Choice, w: Window, x: Shape, c_out: int) -> tuple[Piece, ...]:
    """Blocks from left to right; neighbours of one size within the row are one piece."""
    w_in, c_in = row_pixels(x), x[-1]
    pieces: list[Piece] = []
    for first, pixels in choice.blocks:
        columns = block_columns(w, w_in, first, pixels).in_bytes(c_in)
        last = pieces[-1] if pieces else None
        follows = last is not None and last.pixels == pixels and first == last.first + last.count * pixels
        if last is not None and follows and columns.inside and last.columns.inside:
            pieces[-1] = replace(last, count=last.count + 1)
        else:
            steps = pixels * w.stride * c_in, pixels * c_out
            pieces.append(Piece(first, pixels, 1, columns, first * c_out, *steps))
    return tuple(pieces)


def _fit(core: Core, node: NodeOf[Conv2D | Dense], *, copied: bool = False, lined: bool = False) -> Fit | None:
    op, sums = node.op, _sums(core, node)
    served = isinstance(op, Dense) or (op.groups == 1 and op.h.size <= _MOST_ROWS)
    if sums is None or not served or not sums.of_bytes(shifted=True):
        return None
    scaling = lined_scaling(sums) if lined else plain_scaling(sums)
    if scaling is None:
        return None
    # the assembler is for signed inputs
    plain = sums.x is not DType.S8 or sums.bits > 0
    c_out = node.outs[0].shape[-1]
    bytewise = not sums.bits
    work = replace(
        _work(node), two_groups=bytewise and c_out % _TWO_GROUPS == 0, c_out=c_out if bytewise else 0, few=not bytewise
    )
    used = replace(core, pairs=0) if plain else core
    whole = in_windows(used, work, c_out) if bytewise and windows(node.op)[1].dilation == 1 else None
    choice = choose(used, whole or work, once=copied)
    planar = not sums.bits and core.pairs > 0 and sums.x is DType.S8 and 2 in choice.sizes and choice.channels == 2
    context = _context(core, node, sums, choice, rq=scaling.rq, planar=planar)
    scratch = gathered(node, context.pieces)
    edges = ", edges copied beside padding" if scratch.bytes else ""
    at = room_in_row(context.pieces, c_out, scratch.bytes) if whole is None else -1
    if at >= 0:
        first = sorted(context.pieces, key=lambda piece: piece.columns.inside)
        context, scratch = (
            replace(context, pieces=tuple(first), copies_at=at),
            replace(scratch, bytes=0, tiled=scratch.bytes),
        )
    if whole is not None:
        context = _with_windows(core, whole, node, context)
        near = gathered(node, pieces_of(choose(used, work), windows(node.op)[1], node.ins[0].shape, c_out))
        scratch = replace(scratch, bytes=max(near.bytes, windows_bytes(used, whole)))
        edges = ", windows copied to one run each"
    params, headers = _params(sums, scaling, context), context.rq.headers
    own = ("lam_armv6m.h",) if planar else ()
    in_place = _is_pointwise(node) and context.c_out <= context.channels and choice.once
    why = _why(choice, edges, sums) + scaling.said
    few = node.ins[1].bits > 0
    counted = replace(choice, channels=context.channels) if few else choice
    mix = conv_mix(core, whole or work, counted, context.c_out) if few or isinstance(op, Conv2D) else None
    if mix is not None and whole is not None:
        mix = mix + windows_mix(core, work)
    if mix is not None and few:
        mix = mix + _edges_mix(core, context)
    if mix is not None and sums.less is not None:
        mix = mix + zeros_mix(core, work, choice, context.c_out)
    code = code_bytes(used, whole or work, choice, context.c_out)
    fit = Fit(context, params, (scratch,), why, headers=(*headers, *own), mix=mix, in_place=in_place)
    return replace(fit, code_bytes=code)


def _sums(core: Core, node: NodeOf[Conv2D | Dense]) -> Weighted | None:
    """Those of a node; of one output with a zero point of its own, in bytes where another kernel has pairs of outputs.

    A pair that is half empty takes as many, and the sum of the inputs as long as the products.
    """
    sums = weighted(node, apart=True)
    alone = sums is not None and sums.less is not None and len(sums.weights) == 1
    if sums is None:
        return None
    return sums.stored_in(sums.weights[0].size) if alone and core.pair else sums.without_sign()


def _fit_copied(core: Core, node: NodeOf[Conv2D | Dense]) -> Fit | None:
    """A pointwise layer whose blocks copy their inputs, where several groups of channels read them."""
    plain = _fit(core, node) if _is_pointwise(node) else None
    if plain is None or plain.in_place or node.outs[0].elements == plain.context.c_out:
        return None
    found = _fit(core, node, copied=True)
    assert found is not None, "it serves what it serves otherwise"
    k: BlockedContext = found.context
    pixels = Scratch("pixels", k.input_bytes(max(k.sizes)))
    why = f"{found.why}, inputs copied for outputs to lie over them"
    return replace(found, context=replace(k, copied=True), scratch=(pixels,), why=why, in_place=True, copies=True)


def _fit_lined(core: Core, node: NodeOf[Conv2D]) -> Fit | None:
    """A pointwise layer: where outputs have many products, what their requantization takes is lost among them."""
    return _fit(core, node, lined=True) if _is_pointwise(node) else None


def _is_pointwise(node: NodeOf[Conv2D | Dense]) -> bool:
    """Whether each output pixel reads the input pixel in its place."""
    return isinstance(node.op, Dense) or is_pointwise(node.op)


def _work(node: NodeOf[Conv2D | Dense]) -> Work:
    h, w = windows(node.op)
    c_in = node.ins[0].shape[-1]
    run = c_in * (w.size if w.dilation == 1 else 1)
    return Work(row_pixels(node.outs[0].shape), h.size * w.size * c_in, run, w.stride * c_in)


def _context(
    core: Core, node: NodeOf[Conv2D | Dense], sums: Weighted, choice: Choice, *, rq: FastRequant, planar: bool
) -> BlockedContext:
    x, y = node.ins[0], node.outs[0]
    h, w = windows(node.op)
    run = _work(node).run
    added = sums.less is not None and adds_zeros(core, _work(node), choice, y.shape[-1])
    return BlockedContext(
        x_t=x.dtype.ctype,
        y_t=y.dtype.ctype,
        c_in=x.shape[-1],
        c_out=y.shape[-1],
        kernel_h=h.size,
        stride=w.stride,
        pad=w.pad_before,
        runs=1 if w.dilation == 1 else w.size,
        run=run,
        run_step=w.dilation * x.shape[-1],
        unroll=turn_of(core, _work(node)),
        fields=_fields(core, node, sums, min(choice.channels, y.shape[-1])) if sums.bits else None,
        planar=planar,
        channels=min(choice.channels, y.shape[-1]),
        two_groups=choice.two_groups,
        sizes=choice.sizes,
        pieces=pieces_of(choice, w, x.shape, y.shape[-1]),
        shifted=sums.shift is not None or (sums.less is not None and not added),
        each_shifted=sums.less is not None and not added,
        each_added=added,
        rq=rq,
    )


def _fields(core: Core, node: NodeOf[Conv2D | Dense], sums: Weighted, channels: int) -> Fields:
    """Elements that groups of so many channels read, and the channels left over."""
    work, rest = _work(node), len(sums.weights) % channels
    held = Fields.holding_turns(sums.bits, (channels, rest or channels), work.run, turn_of(core, work))
    return replace(held, unsigned=sums.unsigned)


def _with_windows(core: Core, whole: Work, node: NodeOf[Conv2D | Dense], k: BlockedContext) -> BlockedContext:
    """The same where blocks read copies of whole windows."""
    h, read = windows(node.op)[0], read_by(node, k.pieces)
    one = replace(k, c_in=whole.taps, kernel_h=1, stride=1, pad=0, runs=1, run=whole.run, run_step=whole.run)
    return replace(one, unroll=turn_of(core, whole), windows=read, window_rows=h.size)


def read_by(node: NodeOf[Conv2D | Dense], pieces: tuple[Piece, ...]) -> tuple[tuple[Columns, ...], ...]:
    """What each pixel of a piece's first block reads of a kernel row, in bytes."""
    w, w_in, c_in = windows(node.op)[1], row_pixels(node.ins[0].shape), node.ins[0].shape[-1]
    blocks = ([piece.first + p for p in range(piece.pixels)] for piece in pieces)
    return tuple(tuple(block_columns(w, w_in, pixel, 1).in_bytes(c_in) for pixel in block) for block in blocks)


def packed(weights: Array, channels: int) -> Array:
    """Weights [Cout, ...] in the order of reading: `channels` at a time, tap by tap; then those left over."""
    flat = weights.reshape(len(weights), -1)
    whole = len(flat) // channels * channels
    groups = flat[:whole].reshape(-1, channels, flat.shape[1]).transpose(0, 2, 1)
    return np.concatenate([groups.reshape(-1), flat[whole:].T.reshape(-1)])


def _in_fields(weights: Array, k: BlockedContext) -> Array:
    """Weights of few bits likewise, each run of taps in whole elements."""
    flat = weights.reshape(len(weights), -1, k.run)
    return np.concatenate([_group_in_fields(flat[first:end], k, channels) for first, end, channels in k.groups])


def _group_in_fields(runs: Array, k: BlockedContext, channels: int) -> Array:
    """Some channels, so many at a time."""
    assert k.fields is not None, "weights have few bits"
    turn = k.fields.in_turn(channels)
    full = filled_to(runs, turn, axis=2)
    split = full.reshape(-1, channels, runs.shape[1], full.shape[2] // turn, turn)
    ordered = split.transpose(0, 2, 3, 4, 1)
    return k.fields.packed(ordered.reshape(*ordered.shape[:3], -1)).reshape(-1)


def _weights(sums: Weighted, k: BlockedContext) -> Field:
    if k.fields is not None:
        rows = k.taps // k.run
        size = sum((end - first) // n * rows * k.weights_of(k.run, n) for first, end, n in k.groups)
        return Field.later("weights", k.fields.dtype, size, lambda: _in_fields(sums.shifted_weights(), k))
    channels = 1 if k.planar else k.channels
    order = _order(channels)
    return Field.later("weights", np.int8, sums.weights.size, lambda: packed(sums.shifted_weights(), channels), order)


def _order(channels: int) -> str:
    """What C says of weights of one channel after another, or of so many beside each other."""
    return "[outputs][rows][columns][inputs]" if channels == 1 else f"those of {channels} outputs beside each other"


def _params(sums: Weighted, scaling: Scaling, k: BlockedContext) -> tuple[Field, ...]:
    zero, shift = sums.zero_fields(padded=k.gathers), sums.shift_fields()
    return (scaling.bias, *zero, *scaling.numbers, *shift, _weights(sums, k))


def gathered(node: NodeOf[Conv2D | Dense], pieces: tuple[Piece, ...]) -> Scratch:
    """Copies of the columns of the largest block that reaches over an edge."""
    h, w = windows(node.op)
    reaching, c_in = [p.pixels for p in pieces if not p.columns.inside], node.ins[0].shape[-1]
    return Scratch("columns", gathered_bytes(h.size, max(reaching), w, c_in, 1) if reaching else 0)


def _edges_mix(core: Core, k: BlockedContext) -> Mix:
    """What the copies of blocks over an edge take."""
    copied = [k.kernel_h * piece.columns.total for piece in k.pieces if not piece.columns.inside]
    return copied_mix(core, k.kernel_h * len(copied), sum(copied))


def room_in_row(pieces: tuple[Piece, ...], c_out: int, size: int) -> int:
    """The pixel from which on the outputs of blocks within the row take so many bytes; -1 where they do not."""
    if not size:
        return -1
    inside = [piece for piece in pieces if piece.columns.inside]
    first = min((piece.first for piece in inside), default=0)
    end = max((piece.first + piece.count * piece.pixels for piece in inside), default=0)
    over = any(p.first < end and first < p.first + p.pixels for p in pieces if not p.columns.inside)
    return first if not over and (end - first) * c_out >= size else -1


def _why(choice: Choice, edges: str, sums: Weighted) -> str:
    sizes = " and ".join(f"{pixels} x {choice.channels_of(pixels)}" for pixels in choice.sizes)
    return f"blocks of {sizes} sums, {choice.cost:.2f} instructions per product{edges}{sums.said}"


def blocked_conv(core: Core) -> tuple[Kernel[Conv2D | Dense], ...]:
    """The kernels for one core.

    Where blocks may have more code than they need, those that have it come first, for chips that are asked for
    kernels which take more, and for those that have SIMD: few layers of theirs have these kernels.
    """
    needs, without = chips_of(core)
    longer = longer_cores(core)
    if not longer:
        return (_kernel(core, needs, without),)
    wide = (_kernel(one, *wide_chips_of(core)) for one in longer)
    return (*wide, _kernel(core, needs | _SIMD, without), _kernel(short_core(core), needs, without | _SIMD))


def lined_conv(core: Core) -> tuple[Kernel[Conv2D], ...]:
    """The same with requantization of larger factors (kernels/lined.py)."""
    cores, chips = (*longer_cores(core), short_core(core)), wide_chips_of(core)
    fits = (partial(_fit_lined, lined_core(one)) for one in cores)
    return tuple(Kernel(_NAME, _TEMPLATE, "row", (Conv2D,), fit, *chips, headers=_HEADERS) for fit in fits)


def _kernel(core: Core, needs: frozenset[str], without: frozenset[str]) -> Kernel[Conv2D | Dense]:
    served: tuple[type[Conv2D | Dense], ...] = (Conv2D, Dense)
    fit, copied = partial(_fit, core), partial(_fit_copied, core)
    return Kernel(_NAME, _TEMPLATE, "row", served, fit, needs, without, headers=_HEADERS, copying=copied)
