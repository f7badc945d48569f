"""Calls of kernels as the schedule spells them: which row pointers, how many rows, and what has to be there before."""

from __future__ import annotations

from dataclasses import replace

from codegen.emit.about import kind_of
from codegen.emit.addresses import Names
from codegen.emit.functions import FunctionView
from codegen.emit.names import comment
from codegen.emit.reads import SlicesView, slices_view
from codegen.emit.spelling import plus
from codegen.ir.op import RowRule
from codegen.ir.producer import Producer, Ready, Step, Streamed
from codegen.ir.program import Call, RowInput
from codegen.records import record

_INPUT_FIRST = -2
"""What C answers when rows of the network's input must come before a call can be made; -1 is that none lack."""


@record(kw_only=True)
class InputView:
    """Row pointers of one input in one call: `slot` is its first one in `rows`, `place` the address of row 0.

    `position` is the row of the first tap and `need` how many rows have to be there, as C expressions of `row`.
    `fixed`: the one pointer is the same in each call.  `made` is how many rows there are, as a C expression, empty when
    all are there before the group runs; `lacking` what is answered when they are too few: the call that makes them.
    """

    slot: int
    taps: int
    ctype: str
    place: str
    row_bytes: int
    rows: int
    wraps: bool
    ring: int
    position: str
    need: str
    fixed: bool
    dilation: int
    checked: bool
    padding: str
    made: str
    lacking: int
    whole: bool


@record
class OutputView:
    """Where one output of a call goes, and how it is traced; `tensor` is None where only a part of it is made.

    `place` spells the address of its first row, `rows_made` how many rows of it one step makes.
    """

    tensor: int | None
    ctype: str
    place: str
    row_bytes: int
    rows: int
    rows_made: str
    wraps: bool
    ring: int


@record(kw_only=True)
class StepView:
    """One call: the function that makes `rows_per_call` rows, and how it is driven.

    `uses_row`: there are several steps, told apart by `row`, which is a parameter if `takes_row`, and `reads_row` says
    whether the code reads it.  `backwards`: the last rows are made first.
    """

    index: int
    title: str
    moved: str
    function: FunctionView
    inputs: tuple[InputView, ...]
    pointers: int
    outputs: tuple[OutputView, ...]
    params: str
    scratch: str
    n: str
    rows_per_call: int
    uses_row: bool
    takes_row: bool
    reads_row: bool
    moves: bool
    steps: int
    place: int
    slices: SlicesView | None
    backwards: bool

    @property
    def last_row(self) -> int:
        """The number of the last step; of its row, where it is a row a step."""
        return self.steps - 1

    @property
    def makers(self) -> bool:
        """Whether any input comes row by row."""
        return any(i.made for i in self.inputs)


@record
class TableView:
    """First rows of an input for each output row, where no formula gives them."""

    name: str
    values: tuple[int, ...]


class Steps:
    """Spells the calls of one program; the tables of first rows that they read are kept."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.tables: dict[tuple[int, ...], TableView] = {}

    def step(self, call: Call, index: int, first_of_group: int, *, pulled: bool, backwards: bool = False) -> StepView:
        """One call with every expression spelled."""
        inputs: list[InputView] = []
        slot = 0
        for item in call.inputs:
            inputs.append(self._input(item, slot, call))
            slot += inputs[-1].taps
        alone = call.steps == 1
        moves, sliced = call.fn.run != "accumulate", call.slices is not None
        outputs = tuple(self._output(call, k) for k in range(len(call.outputs)))
        reads_row = (
            not moves
            or (not alone and any(o.ring > 1 for o in outputs))
            or any(not i.fixed and i.position != "0" for i in inputs)
            or "row" in _extent(call)
        )
        return StepView(
            index=index,
            title=comment(_title(call)),
            moved=comment(_moved(call)),
            function=self.names.functions[id(call.fn)],
            inputs=tuple(inputs),
            pointers=max(slot, 1),
            outputs=outputs,
            params=self.names.params_of(call),
            scratch="NULL" if call.scratch_offset is None else self.names.place(call.scratch_offset),
            n=_extent(call),
            rows_per_call=call.rows_per_call,
            uses_row=not alone,
            takes_row=reads_row or not alone or pulled or self.names.program.scratchpad is not None or sliced,
            reads_row=reads_row,
            moves=moves,
            steps=call.steps,
            place=index - first_of_group,
            slices=slices_view(call),
            backwards=backwards,
        )

    def _input(self, item: RowInput, slot: int, call: Call) -> InputView:
        rule, place, out_rows = item.rule, item.operand, call.outputs[0].rows
        checked = rule.leaves(place.rows, out_rows) or out_rows % call.rows_per_call != 0
        if call.fn.run == "rows" and not item.by_channels:  # else rows lie behind the taps of the first one
            reach = (call.rows_per_call - 1) * rule.mul + (rule.taps - 1) * rule.dilation
            rule = replace(rule, taps=reach + 1, dilation=1)
        held = rule.taps == place.ring == 1 and not checked and isinstance(item.producer, Ready)
        position = "0" if rule.whole or held else self._position(rule)
        wraps = place.ring < place.rows
        still = place.ring == 1 or (not wraps and call.steps == 1 and position == "row")
        return InputView(
            slot=slot,
            taps=1 if rule.whole else rule.taps,
            ctype=place.dtype.ctype,
            place=self.names.place(place.offset),
            row_bytes=place.row_bytes,
            rows=place.rows,
            wraps=wraps,
            ring=place.ring,
            position=position,
            need="1" if rule.whole or held else self._position(rule, (rule.taps - 1) * rule.dilation + 1),
            fixed=rule.whole or (rule.taps == 1 and not checked and still),
            dilation=rule.dilation,
            checked=checked,
            padding=self.names.padding_of(item, self.names.functions[id(call.fn)].in_t),
            made=_made(item.producer),
            lacking=item.producer.call if isinstance(item.producer, Step) else _INPUT_FIRST,
            whole=rule.whole,
        )

    def _position(self, rule: RowRule, ahead: int = 0) -> str:
        """The row `ahead` of the first tap's, as a C expression of `row`."""
        if rule.accumulate:
            return plus("row", ahead)
        if rule.table is not None:
            return plus(f"{self._table(rule.table)}[row]", ahead)
        text = "row" if rule.mul == 1 else f"row * {rule.mul}"
        text = text if rule.div == 1 else f"{text} / {rule.div}"
        return plus(text, ahead - rule.pad)

    def _table(self, values: tuple[int, ...]) -> str:
        if values not in self.tables:
            self.tables[values] = TableView(f"{self.names.name}_rows{len(self.tables)}", values)
        return self.tables[values].name

    def _output(self, call: Call, index: int) -> OutputView:
        out = call.outputs[index]
        wraps = out.ring < out.rows
        tensor = None if call.partial else self.names.tensors[out.value]
        made = str(out.rows) if call.steps == 1 else _rows_made(call)
        place = self.names.place(out.offset)
        return OutputView(tensor, out.dtype.ctype, place, out.row_bytes, out.rows, made, wraps, out.ring)


def _made(producer: Producer) -> str:
    """How many rows there are, as a C expression; empty where all are there before the group runs."""
    match producer:
        case Ready():
            return ""
        case Streamed():
            return "net->rows_in"
        case Step(call):
            return f"net->done[{call}]"


def _rows_made(call: Call) -> str:
    """Output rows of one step, as a C expression of `row`, the first of them."""
    rows, block = call.outputs[0].rows, call.rows_per_call
    return str(block) if rows % block == 0 else f"(row < {rows - block + 1} ? {block} : {rows} - row)"


def _extent(call: Call) -> str:
    """What the kernel gets as `n`."""
    if call.fn.run == "rows":
        return _rows_made(call)
    if call.pixels_per_call:
        return str(call.pixels_per_call)
    return "0" if call.steps == 1 else "row"


def _moved(call: Call) -> str:
    """Which tensors it reads and writes, by the names of the memory map."""
    read = dict.fromkeys(i.operand.memory for i in call.inputs)
    return f"{', '.join(read) or 'nothing'} -> {', '.join(dict.fromkeys(o.memory for o in call.outputs))}"


def _title(call: Call) -> str:
    node = call.node
    types = " ".join(f"{t.dtype.value}{list(t.shape)}" for i, t in enumerate(node.ins) if i in node.dynamic)
    result = " ".join(f"{t.dtype.value}{list(t.shape)}" for t in node.outs)
    return f"{node.name}: {kind_of(call)} {types} -> {result}"
