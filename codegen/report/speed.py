"""About how many instructions and cycles an inference takes, before anything is built, by what the core's file says.

Decides: which kind of layer a node is, and for how long memory lets the core wait.  Leaves to the core's file what each
kind costs, to the chip's what its memories cost, and to `lamina profile` counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from codegen.ir.form import Form, Run
from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.ir.plan import Plan, region_at
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.kernels.column import made_as_row
from codegen.kernels.float32.registers import flushes
from codegen.ops.facts import facts
from codegen.ops.float32 import SUMMING
from codegen.records import record
from codegen.schedule import made_shares
from codegen.target import KernelRates, Memory, Rates, Speed, Target

CONVOLUTION, GROUPED, DENSE, ELEMENT, PAIR = "convolution", "grouped", "dense", "element", "pair"
KINDS = (CONVOLUTION, GROUPED, DENSE, ELEMENT, PAIR)
_HUNDRED, _OF_KERNELS = 100, 1000
_WIDER = "_wide"
"""Behind the name of a kernel on weights of 16 bits; its rates are those on weights of 8, where it has none."""
_WORD, _WHOLE, _REAL, _SUMS = 4, 8, 32, 4
"""Bytes of the working memory that one access moves; bits of a weight that is not packed, of a real number; sums of 32
bits in a vector."""


@record
class Work:
    """What there is to do in a layer: its kind, its products (of a layer without any: its elements), outputs, rows.

    `bits` are those of a weight that is packed, and 8 of all others; 32 of real numbers that are not multiplied by
    weights, whose kernels integers may have too.  `channels` those of an output pixel, 0 where
    nothing is multiplied; `runs` the rows of a window, each of which lies in one piece; `pieces` those that lie in the
    map, of one output pixel in each row; `edges` the pixels of a row whose windows reach into padding beside it.
    """

    kind: str
    products: int
    outputs: int
    rows: int
    bits: int = 8
    channels: int = 0
    runs: int = 1
    pieces: int = 0
    edges: int = 0

    def amounts(self, lanes: int) -> tuple[int, int, int, int, int, int]:
        """What a kernel's rates are of: products, outputs, rows, what is gathered, the pieces of it, those at edges.

        What is gathered are the products of one channel, without those that lie in padding above and below the map; at
        edges are the pieces that reach into padding beside it.

        A core that makes `lanes` products at once makes the empty ones of a last vector too: behind the last product of
        a sum, behind what is gathered in one piece, and behind the last channel where each has a window of its own, up
        to the four whose sums fill a vector; there rows are those of each vector of channels.
        """
        if not self.channels:
            return self.products, self.outputs, self.rows, 0, 0, 0
        each, pixels = self.products // self.outputs, self.outputs // self.channels
        pieces, piece, beside = pixels // self.rows * self.pieces, each // self.runs, self.edges * self.pieces
        if self.kind == GROUPED:
            vectors = -(-self.channels // lanes)
            products = each * pixels * _whole_vectors(self.channels, min(lanes, _SUMS))
            return products, self.outputs, self.rows * vectors, pieces * piece, pieces * vectors, beside * vectors
        products, gathered = self.outputs * _whole_vectors(each, lanes), pieces * _whole_vectors(piece, lanes)
        return products, self.outputs, self.rows, gathered, pieces, beside


@record
class Estimate:
    """Of one layer or all: instructions, cycles of a core that never waits, and cycles that it waits for memory."""

    instructions: float
    cycles: float
    waits: float

    def __add__(self, other: Estimate) -> Estimate:
        """Both."""
        return Estimate(self.instructions + other.instructions, self.cycles + other.cycles, self.waits + other.waits)

    @property
    def all_cycles(self) -> float:
        """With what the core waits."""
        return self.cycles + self.waits


def estimates(
    graph: Graph, kernels: Mapping[int, Form], chip: Target, plan: Plan | None = None
) -> dict[int, Estimate] | None:
    """Of each node with a kernel, by its place in the graph.

    `plan` says in which memories tensors lie, and which rows of a group nobody asks for.

    None where the core's file says nothing, or where layers compute with real numbers, of which it says nothing.
    """
    views = {i: graph.view(graph.nodes[i]) for i in sorted(kernels)}
    if chip.speed is None or any(_rates(view, kernels[i], chip) is None for i, view in views.items()):
        return None
    slow = {} if plan is None else _slow(plan)
    shares = {} if plan is None else made_shares(graph, plan.groups)
    found = {}
    for i, view in views.items():
        node = graph.nodes[i]
        moved = sum(slow.get(name, 0.0) for name in (*node.inputs, *node.outputs))
        one, share = _estimate(view, kernels[i], chip, chip.speed), shares.get(i, 1.0)
        found[i] = Estimate(one.instructions * share, one.cycles * share, one.waits + moved)
    return found


def estimated_cycles(graph: Graph, kernels: Mapping[int, Form], chip: Target, plan: Plan | None = None) -> int | None:
    """Of one run, with what the core waits for memory; None as of `estimates`."""
    found = estimates(graph, kernels, chip, plan)
    return None if found is None else round(sum(one.all_cycles for one in found.values()))


def instructions_about(plan: Plan, kernels: Mapping[int, Form], chip: Target) -> float:
    """Of one run; where the core's file does not say, as many as there are products."""
    found = estimates(plan.graph, kernels, chip, plan)
    if found is not None:
        return sum(one.instructions for one in found.values())
    return float(sum(plan.graph.view(node).macs for node in plan.graph.nodes))


def layer_cycles(view: NodeView, form: Form, chip: Target) -> float | None:
    """Of one layer whose tensors lie in the fastest memory; None as of `estimates`."""
    if chip.speed is None or _rates(view, form, chip) is None:
        return None
    return _estimate(view, form, chip, chip.speed).all_cycles


def layer_instructions(view: NodeView, form: Form, chip: Target) -> float | None:
    """Of one layer all of whose rows are made; None as of `estimates`."""
    if chip.speed is None or _rates(view, form, chip) is None:
        return None
    return _estimate(view, form, chip, chip.speed).instructions


def work_of(view: NodeView, run: Run = "pixels") -> Work:
    """Which kind of layer a node is, and how much there is to do with a kernel whose calls cover `run`.

    A kernel that makes one row a call uses each weight once where the row is one pixel, as a dense layer does.
    """
    outputs, rows = sum(t.elements for t in view.outs), math.prod(view.outs[0].shape[:-2])
    products = view.op.macs(view.ins, view.outs)
    if not products:
        elements = max(outputs, sum(view.ins[i].elements for i in view.dynamic))
        return Work(
            PAIR if len(view.dynamic) > 1 else ELEMENT, elements, outputs, rows, _REAL if _is_real(view) else _WHOLE
        )
    once = _weights(view) == products or (run in ("row", "rows") and view.outs[0].shape[1:-1][-1:] == (1,))
    kind = GROUPED if facts(view).get("groups", 1) > 1 else DENSE if once else CONVOLUTION
    bits = min((t.bits or _WHOLE for t, c in zip(view.ins, view.consts, strict=True) if c is not None), default=_WHOLE)
    runs, channels = facts(view).get("kernel_height", 1), view.outs[0].shape[-1]
    pieces = rows * runs - _above_and_below(view)
    return Work(kind, products, outputs, rows, min(bits, _WHOLE), channels, runs, pieces, _edges(view))


def _edges(view: NodeView) -> int:
    """Pixels of a row whose windows reach into padding beside it."""
    return sum(any(taps) for taps in _outside(view, "w", -2))


def _above_and_below(view: NodeView) -> int:
    """Rows of windows in padding, of one output pixel in each row."""
    return sum(sum(taps) for taps in _outside(view, "h", -3))


def _outside(view: NodeView, name: str, axis: int) -> Iterator[list[bool]]:
    """Of each output position along an axis that has a window, which taps lie outside of the map."""
    window = getattr(view.op, name, None)
    if isinstance(window, Window):
        length = view.ins[0].shape[axis]
        for start in map(window.first, range(view.outs[0].shape[axis])):
            yield [not 0 <= start + tap * window.dilation < length for tap in range(window.size)]


def lanes_of(view: NodeView, speed: Speed) -> int:
    """Products that one instruction of the core makes, of numbers as wide as the layer's."""
    return max(1, speed.products // max(view.ins[0].dtype.bytes, 1))


def _whole_vectors(count: int, lanes: int) -> int:
    return -(-count // lanes) * lanes


def _estimate(view: NodeView, form: Form, chip: Target, speed: Speed) -> Estimate:
    """With waits for weights alone; of calls of several rows of one pixel, what as many rows of their pixels take."""
    if form.by_channels:
        calls = view.outs[0].shape[1] // form.rows
        one = _estimate(made_as_row(view, form.rows), replace(form, by_channels=False), chip, speed)
        return Estimate(calls * one.instructions, calls * one.cycles, calls * one.waits)
    work, rates = work_of(view, form.run), _rates(view, form, chip)
    assert rates is not None
    of_kernel = isinstance(rates, KernelRates)
    of = _OF_KERNELS if of_kernel else _HUNDRED
    amounts = work.amounts(lanes_of(view, speed)) if of_kernel else (work.products, work.outputs)
    instructions, cycles = (
        sum(amount * rate for amount, rate in zip(amounts, each, strict=False)) / of
        for each in (rates.instructions, rates.cycles)
    )
    return Estimate(instructions, cycles, _weight_waits(view, work, chip, speed))


def _rates(view: NodeView, form: Form, chip: Target) -> Rates | KernelRates | None:
    """The kernel's, or those of the layer's kind, which are of integers: None for real numbers then.

    Without an FPU real numbers take many times as much as integers with the same kernel, and need rates of their own.
    """
    work, speed = work_of(view, form.run), chip.speed
    assert speed is not None
    if isinstance(view.op, SUMMING) and view.op.sums == "flushed" and not flushes(form.context):
        return None
    known = [rates for rates in speed.kernels if rates.name == form.kernel]
    known = known or [rates for rates in speed.kernels if f"{rates.name}{_WIDER}" == form.kernel]
    if work.bits == _REAL and not chip.has_fpu:
        known = [rates for rates in known if rates.bits == _REAL]
    if known or _is_real(view):
        return max(known, key=lambda rates: (rates.kind == work.kind, rates.bits == work.bits), default=None)
    found: Rates = getattr(speed, work.kind)
    return found


def _slow(plan: Plan) -> dict[str, float]:
    """Cycles beyond those of the fastest memory that passing over each tensor takes, of those that lie elsewhere."""
    regions = {value: region_at(plan.regions, s.offset) for value, s in plan.storage.items()}
    return {
        value: plan.storage[value].rows * plan.storage[value].row_bytes * (region.cost - 1) / _WORD
        for value, region in regions.items()
        if region is not None
    }


def _weight_waits(view: NodeView, work: Work, chip: Target, speed: Speed) -> float:
    """Cycles that the core waits for weights out of flash: each line once, or for each run of pixels once again."""
    flash = next((m for m in chip.memories if m.kind == "flash"), None)
    weights = _weights(view)
    if flash is None or not flash.wait or not weights:
        return 0.0
    return _times(weights, work, flash, speed) * weights / flash.line * flash.wait


def _times(weights: int, work: Work, flash: Memory, speed: Speed) -> float:
    """How often weights are read."""
    if weights <= flash.cache:
        return 1.0
    return max(1.0, work.products / weights / speed.pixels)


def _weights(view: NodeView) -> int:
    return max((c.size for c in view.consts if c is not None), default=0)


def _is_real(view: NodeView) -> bool:
    return DType.F32 in {t.dtype for t in (*view.ins, *view.outs)}
