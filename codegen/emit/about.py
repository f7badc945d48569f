"""What the comments of generated C say: of each layer function what it computes, of memory which tensor lies where.

Decides words alone; nothing here changes what is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.emit.names import comment
from codegen.ir.plan import ARENA, place_of
from codegen.ir.program import Call, Operand, Program
from codegen.ir.quant import TensorType
from codegen.ir.shape import row_pixels
from codegen.records import record

_CALL = {
    "row": "One call makes one output row, number n.",
    "rows": "One call makes n output rows; `rows` points to all input rows that they need, from the first tap's on.",
    "pixels": "One call makes n pixels that lie one after another.",
    "whole": "One call makes the whole output; n is not read.",
    "accumulate": "One call takes input row n; sums stay in `scratch` between calls, and the last one writes y.",
}
_NAMED = 4
"""Layers that a comment names before it counts the others."""
_START, _END = -1, 1 << 30


def function_about(calls: Sequence[Call]) -> tuple[str, ...]:
    """Lines on a function that these calls share: operator, layers, types and layout, what a call covers, rounding."""
    names = list(dict.fromkeys(call.node.name for call in calls))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    layers = comment(", ".join(names[:_NAMED]) + more)
    kinds = dict.fromkeys(f"{kind_of(c)} {_types(c)}" for c in calls)
    scratch = max(call.scratch_bytes for call in calls)
    said = " ".join(dict.fromkeys(sentence(call.node.op) for call in calls))
    lines = [f"{layers}: {said}", *kinds, _covered(calls), *_rounding(calls)]
    return (*lines, f"`scratch` has {scratch} bytes.") if scratch else tuple(lines)


def _covered(calls: Sequence[Call]) -> str:
    """What one call makes."""
    single = calls[0].fn.run == "pixels" and all(o.rows == 1 == row_pixels(t.shape) for o, t in _made(calls))
    return "One call makes the whole output; n is 1." if single else _CALL[calls[0].fn.run]


def _made(calls: Sequence[Call]) -> Iterator[tuple[Operand, TensorType]]:
    return ((o, t) for call in calls for o, t in zip(call.outputs, call.node.outs, strict=True))


def kind_of(call: Call) -> str:
    """The operator's name; of a convolution in groups, how many, or that each input channel is one."""
    node, groups = call.node, getattr(call.node.op, "groups", 1)
    if groups == 1:
        return type(node.op).__name__
    each = node.ins[1].shape[-1] == 1
    return f"{'depthwise' if each else f'grouped, {groups} groups:'} {type(node.op).__name__}"


def _types(call: Call) -> str:
    node = call.node
    taken = " ".join(f"{t.dtype.value}{list(t.shape)}" for i, t in enumerate(node.ins) if i in node.dynamic)
    made = " ".join(f"{t.dtype.value}{list(t.shape)}" for t in node.outs)
    axes = ", axes N, H, W, C" if len(node.outs[0].shape) == 4 else ""
    return f"{taken} -> {made}{axes}"


def sentence(op: object) -> str:
    """What the operator says of itself: with its own numbers, or without what is about its fields."""
    text = getattr(op, "said", "") or (type(op).__doc__ or "").strip().split("\n\n")[0].split(";")[0].rstrip(".")
    return " ".join(text.replace("*/", "* /").split()) + "."


def _rounding(calls: Sequence[Call]) -> Iterator[str]:
    call = calls[0]
    op, requant = call.node.op, getattr(call.node.op, "requant", None)
    if requant is None:
        mode, ends = getattr(op, "mode", None), {_ends(c) for c in calls}
        if isinstance(mode, str) and None not in ends:
            limits = "{} .. {}".format(*ends.pop() or ()) if len(ends) == 1 else "its bounds"
            yield f"The result is rounded as mode `{mode}` does, and limited to {limits}{_zero(calls)}."
        return
    if "range" not in call.fn.sizes:
        return
    factor = "scale" if "scale" in call.fn.sizes else "multiplier and shift"
    rounds = requant.mode if requant.rounding == "half_up" else f"pot_{requant.rounding}"
    whose = "each channel's" if requant.per_channel else "the layer's"
    header = "_ort" if requant.mode == "ort" else "" if requant.rounding == "half_up" else "_rounded"
    yield f"Sums are requantized with {whose} {factor}, rounded as mode `{rounds}` does (lam_requant{header}.h);"
    fixed = getattr(getattr(call.fn.context, "rq", None), "saturate", "")
    bounds = f"{requant.low} .. {requant.high} by saturation" if fixed else "range.low .. range.high"
    yield f"range.zero_point is added, and the result limited to {bounds}{_zero(calls)}."


def _ends(call: Call) -> tuple[int, int] | None:
    """The least and the greatest output, where the operator says them."""
    source = getattr(call.node.op, "requant", None) or call.node.op
    low, high = getattr(source, "low", None), getattr(source, "high", None)
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None


def _zero(calls: Sequence[Call]) -> str:
    """Of which layers the least output stands for 0, as of one with a ReLU."""
    quants = [(call.node.name, call.node.outs[0].quant, _ends(call)) for call in calls]
    names = [name for name, quant, ends in quants if quant and ends and quant.zero_point == ends[0]]
    if not names:
        return ""
    ends = next(ends for name, _, ends in quants if name == names[0])
    who = "" if len(names) == len(calls) else f" in {comment(', '.join(names[:_NAMED]))}"
    return f", where {ends[0] if ends else 0} stands for 0{who}, as after a ReLU"


@record
class _Stay:
    """Who has which bytes, from the step that writes them first to the last one that reads them."""

    offset: int
    bytes: int
    first: int
    last: int
    what: str

    def joined(self, other: _Stay) -> _Stay:
        """Both."""
        return _Stay(self.offset, self.bytes, min(self.first, other.first), max(self.last, other.last), self.what)


def memory_map(program: Program) -> tuple[str, ...]:
    """One line for each tensor, state and scratch of a working memory, by address; none for the scratchpad regime."""
    if program.scratchpad:
        return ()
    stays: dict[tuple[str, int, int], _Stay] = {}
    for key, stay in _stays(program):
        stays[key] = stays[key].joined(stay) if key in stays else stay
    ordered = sorted(stays.values(), key=lambda s: (s.offset, s.first, s.last, s.what))
    return tuple(_line(program, stay) for stay in ordered)


def _stays(program: Program) -> Iterator[tuple[tuple[str, int, int], _Stay]]:
    ends = [(_START, p.operand) for p in program.inputs] + [(_END, p.operand) for p in program.outputs]
    kept = [(step, at) for s in program.states for at in (s.operand, s.renewed) for step in (_START, _END)]
    for first, last, operand in (*((step, step, at) for step, at in (*ends, *kept)), *_used(program)):
        size = operand.ring * operand.row_bytes
        key = operand.memory, operand.offset, size
        yield key, _Stay(operand.offset, size, first, last, f"{comment(operand.memory)}: {_rows(operand)}")
    for first, last, call in _calls(program):
        if call.scratch_offset is not None:
            at = call.scratch_offset, call.scratch_bytes
            yield (f"scratch {first}", *at), _Stay(*at, first, last, f"scratch of {comment(call.node.name)}")


def _calls(program: Program) -> Iterator[tuple[int, int, Call]]:
    """Calls with the steps from which and to which they run: those of a group that pulls rows take turns."""
    step = 0
    for group in program.groups:
        after = step + len(group.calls)
        for at, call in enumerate(group.calls, step):
            yield (step, after - 1, call) if group.pulled else (at, at, call)
        step = after


def _used(program: Program) -> Iterator[tuple[int, int, Operand]]:
    for first, last, call in _calls(program):
        yield from ((first, last, operand) for operand in (*(i.operand for i in call.inputs), *call.outputs))


def _rows(operand: Operand) -> str:
    some = "" if operand.ring == operand.rows else f"{operand.ring} at a time of "
    rows = "row" if operand.rows == 1 else "rows"
    return f"{operand.dtype.value}, {some}{operand.rows} {rows} of {operand.row_bytes} bytes"


def _line(program: Program, stay: _Stay) -> str:
    memory, at = place_of(program.regions, stay.offset)
    where = "" if memory == ARENA else f"{memory} "
    first = "start" if stay.first == _START else str(stay.first)
    last = "end" if stay.last == _END else str(stay.last)
    return f"{where}{at:>7} {stay.bytes:>7}  {first:>5} .. {last:<5} {stay.what}"
