"""Convolution without groups, and dense layers, of real numbers: blocks of pixels by outputs in registers.

The taps of one kernel row lie together in memory, and so do a block's weights: [groups of outputs][taps][outputs].
Pixels whose windows reach over the left or right edge are made one by one of the taps that are inside.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from codegen.ir.form import Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, Sums
from codegen.ir.shape import Shape, Window, row_count, row_pixels
from codegen.kernels.conv2d import inner_columns
from codegen.kernels.float32.common import Bounds, bias_field, bound_fields, bounds_of, sum_header
from codegen.kernels.float32.conv2d import is_pointwise
from codegen.kernels.float32.registers import AVX512, FPU, HELIUM, Block, Reading, Unit, choose_block
from codegen.kernels.float32.stored import Stored, stored_of
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sizes import RunSizes
from codegen.ops.float32 import FloatConv2D, FloatDense
from codegen.records import record

_MOST_EDGES = 32
_SHORT_ROW = 3
_POINT = Window(1)
_LOADED = (1, 2, 4, 8)
_LEAST_NORMAL = 2.0**-126


@record
class Edge:
    """A pixel whose window reaches over an edge: its `count` taps inside begin at tap `skip`, at element `x` of a row.

    Its outputs begin at element `y`.
    """

    x: int
    skip: int
    count: int
    y: int


@record(kw_only=True)
class FloatBlocksContext(RunSizes):
    """Literals of one layer.

    The columns from `left` on, `inner` of them, read nothing outside the row.  `copied`: the inputs of a block are read
    from scratch, so that its outputs may be stored over them.  `together`: weights that one instruction loads at most.
    """

    unit: Unit
    block: Block
    kernel_w: int
    left: int
    inner: int
    edges: tuple[Edge, ...]
    padded_rows: bool
    any_run: bool
    bounds: Bounds
    sums: Sums
    stored: Stored
    copied: bool
    together: int

    @property
    def lanes(self) -> int:
        """Numbers of a register."""
        return self.unit.lanes

    @property
    def sizes(self) -> tuple[int, ...]:
        """Pixels of a block, largest first; a run of any length ends in single ones."""
        found = {self.block.pixels, self.block.rest, 1 if self.any_run else 0}
        return tuple(sorted(found - {0}, reverse=True)) if self.inner else ()

    @property
    def groups(self) -> tuple[tuple[int, int, int], ...]:
        """The groups of outputs that are summed at a time."""
        return self.outputs_by(self.block.outputs)

    def vectors(self, outputs: int) -> tuple[tuple[int, int], ...]:
        """(first output, outputs) of each vector of a group."""
        return tuple((at, min(self.lanes, outputs - at)) for at in range(0, outputs, self.lanes))

    def weights_held(self, pixels: int, outputs: int) -> bool:
        """Whether a tap holds its weights and its inputs pass by: the fewer, in registers of one kind."""
        return len(self.vectors(outputs)) <= pixels and not self.unit.by_scalar

    def several_pass(self, pixels: int, outputs: int) -> bool:
        """Whether a tap holds its inputs, and one instruction loads several of the weights that pass by."""
        return self.together > 1 and pixels < outputs

    @property
    def some_pass(self) -> bool:
        """Whether any block does."""
        at_once = {*self.sizes, *((1,) if self.edges else ())}
        return any(self.several_pass(pixels, outputs) for pixels in at_once for *_, outputs in self.groups)

    def pieces(self, outputs: int) -> tuple[range, ...]:
        """Outputs of a group whose weights one instruction loads: 8, 4, 2 or one."""
        found: list[range] = []
        while not found or found[-1].stop < outputs:
            at = found[-1].stop if found else 0
            found.append(range(at, at + max(n for n in _LOADED if n <= min(outputs - at, self.together))))
        return tuple(found)

    @property
    def edge_unroll(self) -> int:
        """Taps per turn at an edge, where runs are whole input pixels."""
        return self.unroll if self.c_in % self.unroll == 0 else 1

    @property
    def row_taps(self) -> int:
        """Taps of a kernel row."""
        return self.run * self.runs

    @property
    def start(self) -> int:
        """The first element that the column `left` reads."""
        return (self.left * self.stride - self.pad) * self.c_in

    @property
    def whole(self) -> int:
        """Columns in whole blocks."""
        return self.inner - self.block.rest

    def input_bytes(self, pixels: int) -> int:
        """Bytes that so many pixels read, where they read one input pixel each."""
        return 4 * pixels * self.pixel_step

    @property
    def rest_start(self) -> int:
        """The first element that the block behind these reads."""
        return self.start + self.whole * self.pixel_step

    @property
    def rest_at(self) -> int:
        """Where its outputs begin."""
        return self.output_at(self.left + self.whole, 0)

    def input_at(self, pixel: int, tap: int) -> int:
        """Where a block's pixel finds the input of a tap."""
        return pixel * self.pixel_step + tap

    def weight_at(self, output: int, tap: int, outputs: int) -> int:
        """The element in which one of `outputs` outputs finds the weight of a tap."""
        return self.weights_of(tap, outputs) + self.stored.element(output)

    def weights_of(self, taps: int, outputs: int) -> int:
        """How far so many taps of `outputs` outputs go along the weights."""
        return taps * self.stored.elements(outputs)

    def output_at(self, pixel: int, output: int) -> int:
        """Where a block stores an output."""
        return pixel * self.c_out + output


def _fit_dense(unit: Unit, node: NodeOf[FloatConv2D | FloatDense]) -> Fit | None:
    if isinstance(node.op, FloatConv2D) and not is_pointwise(node.op):
        return None
    row = row_pixels(node.outs[0].shape)
    width = row if row >= _SHORT_ROW else row * row_count(node.outs[0].shape)
    found = _fit(unit, node, _POINT, _POINT, (0, width))
    once = found is not None and found.context.c_out <= found.context.block.outputs
    return replace(found, in_place=unit.lanes == 1 and once) if found else None


def _fit_copied(unit: Unit, node: NodeOf[FloatConv2D | FloatDense]) -> Fit | None:
    """With the inputs of a block copied, where several groups of outputs read them and more pixels follow."""
    found = _fit_dense(unit, node)
    if found is None or found.in_place or unit.lanes > 1 or node.outs[0].elements == found.context.c_out:
        return None
    k: FloatBlocksContext = found.context
    scratch = Scratch("pixels", k.input_bytes(k.block.pixels))
    return replace(found, context=replace(k, copied=True), scratch=(scratch,), in_place=True, copies=True)


def _fit_conv(unit: Unit, node: NodeOf[FloatConv2D]) -> Fit | None:
    op = node.op
    if is_pointwise(op):
        return None
    inner = inner_columns(op.w, node.ins[0].shape[2], node.outs[0].shape[2])
    edges = node.outs[0].shape[2] - (inner[1] - inner[0])
    return _fit(unit, node, op.h, op.w, inner) if op.groups == 1 and edges <= _MOST_EDGES else None


def _fit(
    unit: Unit, node: NodeOf[FloatConv2D | FloatDense], h: Window, w: Window, inner: tuple[int, int]
) -> Fit | None:
    _, weights, bias = node.consts
    if node.dynamic != (0,) or weights is None or bias is None:
        return None
    stored = stored_of(node)
    reading = unit.reading(stored)
    if reading is None or not adds(unit, node.op):
        return None
    k = _context(unit, node, h, w, inner, reading)
    packed = stored.fields_of(weights, lambda all_of: in_groups(all_of, k.block.outputs))
    why = f"{unit.name}: {k.block.pixels} pixels x {k.block.outputs} outputs in registers{stored.said}"
    params = (bias_field(node.op, bias), *bound_fields(node.op), *packed)
    loads = ("lam_fpu.h",) if k.some_pass else ()
    return Fit(k, params, why=why, headers=(*loads, *unit_headers(unit, node.op, stored)))


def adds(unit: Unit, op: FloatConv2D | FloatDense) -> bool:
    """Whether it adds products as the layer does; one without denormal numbers holds none within such bounds."""
    normal = all(not end or abs(end) >= _LEAST_NORMAL for end in (op.low, op.high))
    return op.sums in unit.sums and (normal or op.sums != "flushed")


def unit_headers(unit: Unit, op: FloatConv2D | FloatDense, stored: Stored) -> tuple[str, ...]:
    """Whose functions a step of a sum and a weight are; with lanes, besides the unit's own."""
    if unit.lanes == 1:
        return (sum_header(op), *stored.headers)
    fused = (f"{unit.vector}_fused.h",) if op.sums == "fused" else ()
    return (*fused, *((f"{unit.vector}_stored.h",) if stored.storage else ()))


def _context(
    unit: Unit,
    node: NodeOf[FloatConv2D | FloatDense],
    h: Window,
    w: Window,
    inner: tuple[int, int],
    reading: Reading,
) -> FloatBlocksContext:
    x, y, op = node.ins[0].shape, node.outs[0].shape, node.op
    c_in, c_out, left, width = x[-1], y[-1], inner[0], inner[1] - inner[0]
    together = w.dilation == 1
    stored = stored_of(node)
    run = stored.block or c_in * (w.size if together else 1)
    conv = isinstance(op, FloatConv2D) and not is_pointwise(op)
    return FloatBlocksContext(
        unit=unit,
        block=choose_block(unit, max(1, width), c_out, h.size * w.size * c_in, reading),
        c_in=c_in,
        c_out=c_out,
        kernel_h=h.size,
        kernel_w=w.size,
        stride=w.stride,
        pad=w.pad_before,
        runs=c_in // run if stored.block else 1 if together else w.size,
        run=run,
        run_step=stored.block or w.dilation * c_in,
        unroll=min(run, unit.unroll),
        left=left,
        inner=width,
        edges=_edges(w, x, y, inner) if conv else (),
        padded_rows=conv and op.rows(0, node.ins, node.outs).leaves(x[1], y[1]),
        any_run=not conv,
        bounds=bounds_of(op),
        sums=op.sums,
        stored=stored,
        copied=False,
        together=reading.together,
    )


def _edges(w: Window, x: Shape, y: Shape, inner: tuple[int, int]) -> tuple[Edge, ...]:
    """The columns in front of the inner ones, and those behind them."""
    return tuple(_edge(w, x, y[-1], column) for column in (*range(inner[0]), *range(inner[1], y[2])))


def _edge(w: Window, x: Shape, c_out: int, column: int) -> Edge:
    start = column * w.stride - w.pad_before
    inside = [j for j in range(w.size) if 0 <= start + j * w.dilation < x[2]]
    skip = inside[0] if inside else 0
    at = start + skip * w.dilation if inside else 0
    return Edge(at * x[-1], skip, len(inside), column * c_out)


def in_groups(weights: Array, outputs: int) -> list[Array]:
    """Weights [Cout, ...] in the order of reading: `outputs` at a time, tap by tap; then those left over."""
    flat = weights.reshape(len(weights), -1)
    return [flat[at : at + outputs].T for at in range(0, len(flat), outputs)]


def blocked_dense(unit: Unit, headers: tuple[str, ...]) -> Kernel[FloatConv2D | FloatDense]:
    """Dense layers and pointwise convolutions: any run of pixels."""
    fit, needs, name = partial(_fit_dense, unit), frozenset({unit.feature}), f"{unit.name}_dense_f32"
    ops: Any = (FloatDense, FloatConv2D)
    copied = partial(_fit_copied, unit)
    return Kernel(name, "float32/blocks.c.j2", "pixels", ops, fit, needs, headers=headers, copying=copied)


def blocked_conv(unit: Unit, headers: tuple[str, ...]) -> Kernel[FloatConv2D]:
    """Convolutions, one output row per call."""
    fit, needs, name = partial(_fit_conv, unit), frozenset({unit.feature}), f"{unit.name}_conv_f32"
    return Kernel(name, "float32/blocks.c.j2", "row", (FloatConv2D,), fit, needs, headers=headers)


_UNITS = ((HELIUM, ("lam_mve_f32.h", "lam_order.h")), (FPU, ("lam_order.h",)), (AVX512, ("lam_x86_f32.h",)))

KERNELS: tuple[Kernel[Any], ...] = tuple(make(*unit) for unit in _UNITS for make in (blocked_dense, blocked_conv))
