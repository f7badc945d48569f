"""Program to the frozen records that templates spell: every number and every name ready-made.

Templates hold loops and names only; what is computed is computed here, where it can be tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from codegen.emit.about import function_about, memory_map
from codegen.emit.blob import BLOB_HEADER_BYTES, Fit
from codegen.emit.names import comment
from codegen.emit.scratchpad import ScratchpadView, scratchpad_view
from codegen.ir.op import RowRule
from codegen.ir.plan import ARENA, place_of
from codegen.ir.producer import Producer, Ready, Step, Streamed
from codegen.ir.program import Call, ConstRow, KeptState, KernelFn, Params, Port, Program, RowInput
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.resources import ABI, VERSION
from codegen.target import Target

_INPUT_FIRST = -2
"""What C answers when rows of the network's input must come before a call can be made; -1 is that none lack."""


@dataclass(frozen=True, slots=True)
class FieldView:
    """One array of a kernel's parameters."""

    name: str
    ctype: str
    count: int
    offset: int

    @property
    def record(self) -> bool:
        """Whether its numbers have names: it is a struct of the runtime."""
        return self.ctype.startswith("lam_")

    @property
    def declared(self) -> str:
        """As a member of its struct."""
        return f"{self.ctype} {self.name}" if self.record else f"{self.ctype} {self.name}[{self.count}]"


@dataclass(frozen=True, slots=True)
class FunctionView:
    """One kernel function: its symbol, element types and params arrays, and the runtime headers that it needs.

    `like` is an earlier function with the same arrays, whose struct is this one's too; `about` a comment's lines.
    """

    symbol: str
    in_t: str
    out_t: str
    fields: tuple[FieldView, ...]
    template: str
    context: Any
    outputs: int
    headers: tuple[str, ...]
    like: str = ""
    about: tuple[str, ...] = ()

    @property
    def struct(self) -> str:
        """The struct of its parameters."""
        return f"{self.symbol}_params"

    @property
    def params_t(self) -> str:
        """What its parameters are declared as."""
        return f"const {self.struct}" if self.fields else "const void"

    @property
    def y(self) -> str:
        """How the output is declared: a pointer, or a list of pointers where there are several."""
        return f"{self.out_t} *y" if self.outputs == 1 else f"{self.out_t} *const *y"


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True)
class OutputView:
    """Where one output of a call goes, and how it is traced; `tensor` is -1 where only a part of it is made.

    `place` spells the address of its first row.
    """

    tensor: int
    ctype: str
    place: str
    row_bytes: int
    wraps: bool
    ring: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """One call: the function that makes `rows_per_call` rows (`rows_made` at this step), and how it is driven.

    `uses_row`: there are several steps, told apart by `row`, which is a parameter if `takes_row`, and `reads_row` says
    whether the code reads it.
    """

    index: int
    title: str
    function: FunctionView
    inputs: tuple[InputView, ...]
    pointers: int
    outputs: tuple[OutputView, ...]
    params: str
    scratch: str
    n: str
    rows: int
    rows_per_call: int
    rows_made: str
    uses_row: bool
    takes_row: bool
    reads_row: bool
    moves: bool
    steps: int
    place: int

    @property
    def last_row(self) -> int:
        """The row of the last step, where it is a row a step."""
        return self.steps - 1

    @property
    def makers(self) -> bool:
        """Whether any input comes row by row."""
        return any(i.made for i in self.inputs)


@dataclass(frozen=True, slots=True)
class GroupView:
    """Steps that run together; a pulled group keeps each step's progress in the network's struct.

    `pulls` are (place of the step, steps it has made afterwards), `single` when they are just the last one's.
    """

    index: int
    steps: tuple[StepView, ...]
    pulled: bool
    single: bool
    pulls: tuple[tuple[int, int], ...]
    pull_t: str
    pull_lines: tuple[str, ...]
    streams: bool


@dataclass(frozen=True, slots=True)
class ArrayView:
    """A constant array, spelled in lines of C; `offset` is its place in its struct, in bytes."""

    name: str
    ctype: str
    count: int
    lines: tuple[str, ...]
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ParamsView:
    """One layer's parameters: an object of a struct."""

    symbol: str
    struct: str
    title: str
    offset: int
    arrays: tuple[ArrayView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortView:
    """One input or output in the header; `place` spells its address, `offset` counts from its memory's beginning.

    `order` says which of the model's axes lie in which order, and is empty when they lie as in the model.
    """

    index: int
    title: str
    ctype: str
    place: str
    offset: int
    bytes: int
    dims: int
    shape: str
    scale: str
    zero_point: int | None
    element_bytes: int
    remark: str
    model_shape: str
    order: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateView:
    """What is kept between runs: its address, and that of its new content before it is copied there (or nothing).

    After a reset every byte is `fill`, or where that is None the content is the constant `initial`.
    """

    title: str
    ctype: str
    shape: str
    place: str
    bytes: int
    copied_from: str
    fill: int | None
    initial: ArrayView | None


@dataclass(frozen=True, slots=True)
class StreamView:
    """A network whose input comes row by row: where the rows go, and how many there are.

    `memories` are those that it works in: pointer and size, as the schedule spells them.
    """

    ctype: str
    place: str
    ring: int
    rows: int
    row_bytes: int
    memories: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """First rows of an input for each output row, where no formula gives them."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RegionView:
    """Working memory beside the arena: what its identifiers begin with, in small and big letters, and its size."""

    symbol: str
    upper: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """All that the project's templates see."""

    name: str
    upper: str
    abi: int
    version: str
    options: str
    arena_bytes: int
    arena_align: int
    regions: tuple[RegionView, ...]
    inputs: tuple[PortView, ...]
    outputs: tuple[PortView, ...]
    input_t: str
    output_t: str
    functions: tuple[FunctionView, ...]
    groups: tuple[GroupView, ...]
    const_rows: tuple[ArrayView, ...]
    tables: tuple[TableView, ...]
    params: tuple[ParamsView, ...]
    params_bytes: int
    blob: bool
    small: bool
    blob_bytes: int
    fit: Fit | None
    isa: str
    byte_order: str
    tensors: int
    states: tuple[StateView, ...]
    counters: int
    stream: StreamView | None
    uses_float: bool
    work: str
    scratchpad: ScratchpadView | None
    memory_map: tuple[str, ...]


def array_lines(values: Array) -> tuple[str, ...]:
    """An array spelled in C, in lines of at most about 110 columns; exact for floats."""
    flat = values.reshape(-1)
    kind = flat.dtype
    spell = _spell_float if kind.kind == "f" else _spell_int(kind)
    lines: list[str] = []
    current = ""
    for value in flat.tolist():
        token = f"{spell(value)},"
        if len(current) + len(token) + 1 > 110:
            lines.append(current)
            current = token
        else:
            current = f"{current} {token}" if current else token
    lines.append(current)
    return tuple(lines)


def _spell_float(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        raise AssertionError("parameters are finite")
    text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
    return f"{text}f"


def _spell_int(kind: np.dtype[Any]) -> Any:
    if kind == np.int32:
        return lambda v: "(-2147483647 - 1)" if v == -(2**31) else str(v)
    if kind == np.uint32:
        return lambda v: f"0x{v:08x}u"
    return str


def function_view(fn: KernelFn, network: str) -> FunctionView:
    """One kernel function of a network."""
    fields = tuple(FieldView(n, fn.dtypes[n], fn.sizes[n], offset) for n, offset in fn.offsets.items())
    types = fn.in_dtype.ctype, fn.out_dtype.ctype
    return FunctionView(f"{network}_{fn.symbol}", *types, fields, fn.template, fn.context, fn.outputs, fn.headers)


def _function_views(program: Program) -> dict[int, FunctionView]:
    """All functions; those with the same parameters share a struct."""
    views: dict[int, FunctionView] = {}
    first: dict[tuple[FieldView, ...], str] = {}
    calls = (
        program.scratchpad.calls if program.scratchpad else [call for group in program.groups for call in group.calls]
    )
    for fn in program.functions:
        view = function_view(fn, program.name)
        about = function_about([call for call in calls if call.fn is fn])
        views[id(fn)] = replace(view, like=first.get(view.fields, ""), about=about)
        first.setdefault(view.fields, view.struct)
    return views


class _Builder:
    """Names functions, padding rows and tables of one program."""

    def __init__(self, program: Program, *, blob: bool) -> None:
        self.program = program
        self.blob = blob
        self.name = program.name
        scratchpad = "scratchpad" if program.scratchpad and program.scratchpad.cores > 1 else "net->scratchpad"
        self.work = scratchpad if program.scratchpad else "net->arena"
        self.functions = _function_views(program)
        self.structs = {f.fields: f.struct for f in self.functions.values() if not f.like}
        self.padding = {(r.dtype, r.value): f"{self.name}_pad{i}" for i, r in enumerate(program.const_rows)}
        self.params = {id(p): i for i, p in enumerate(program.params)}
        self.tables: dict[tuple[int, ...], TableView] = {}
        self.tensors = {t.value: t.index for t in program.tensors}

    def step(self, call: Call, index: int, first_of_group: int, *, pulled: bool) -> StepView:
        """One call with every expression spelled."""
        inputs: list[InputView] = []
        slot = 0
        for item in call.inputs:
            inputs.append(self._input(item, slot, call))
            slot += inputs[-1].taps
        alone = call.steps == 1
        moves = call.fn.run != "accumulate"
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
            function=self.functions[id(call.fn)],
            inputs=tuple(inputs),
            pointers=max(slot, 1),
            outputs=outputs,
            params=self.params_of(call),
            scratch="NULL" if call.scratch_offset is None else self.place(call.scratch_offset),
            n=_extent(call),
            rows=call.outputs[0].rows,
            rows_per_call=call.rows_per_call,
            rows_made=_rows_made(call),
            uses_row=not alone,
            takes_row=reads_row or not alone or pulled or self.program.scratchpad is not None,
            reads_row=reads_row,
            moves=moves,
            steps=call.steps,
            place=index - first_of_group,
        )

    def place(self, offset: int, first: str = "") -> str:
        """The address of an offset; `first` is the pointer to the arena, or to the memory that kernels work in."""
        memory, at = place_of(self.program.regions, offset)
        return _plus((first or self.work) if memory == ARENA else f"net->{memory}_arena", at)

    def params_of(self, call: Call) -> str:
        """A kernel's argument: its parameters."""
        if call.params is None:
            return "NULL"
        if call.params_offset is None and not self.blob:
            return f"&{self.symbol(call.params)}"
        struct = self.functions[id(call.fn)].struct
        scratchpad = call.params_offset is not None
        place = _plus(self.work, call.params_offset or 0) if scratchpad else _plus("net->weights", call.params.offset)
        return f"LAM_VIEW({struct}, {place})"

    def symbol(self, params: Params) -> str:
        """The object that a layer's parameters are."""
        return f"{self.name}_p{self.params[id(params)]}"

    def load_from(self, params: Params) -> str:
        """What a table says of where parameters are stored: in a blob, how far into its weights."""
        return str(params.offset) if self.blob else f"LAM_VIEW(uint8_t, &{self.symbol(params)})"

    def _input(self, item: RowInput, slot: int, call: Call) -> InputView:
        rule, place, out_rows = item.rule, item.operand, call.outputs[0].rows
        checked = rule.leaves(place.rows, out_rows) or out_rows % call.rows_per_call != 0
        if call.fn.run == "rows":
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
            place=self.place(place.offset),
            row_bytes=place.row_bytes,
            rows=place.rows,
            wraps=wraps,
            ring=place.ring,
            position=position,
            need="1" if rule.whole or held else self._position(rule, (rule.taps - 1) * rule.dilation + 1),
            fixed=rule.whole or (rule.taps == 1 and not checked and still),
            dilation=rule.dilation,
            checked=checked,
            padding=self._padding(item),
            made=_made(item.producer),
            lacking=item.producer.call if isinstance(item.producer, Step) else _INPUT_FIRST,
            whole=rule.whole,
        )

    def _padding(self, item: RowInput) -> str:
        if item.padding_offset is not None:
            return _plus(self.work, item.padding_offset)
        fill = item.rule.fill
        return "NULL" if fill is None else self.padding.get((item.operand.dtype, fill), "NULL")

    def _position(self, rule: RowRule, ahead: int = 0) -> str:
        """The row `ahead` of the first tap's, as a C expression of `row`."""
        if rule.accumulate:
            return _plus("row", ahead)
        if rule.table is not None:
            return _plus(f"{self._table(rule.table)}[row]", ahead)
        text = "row" if rule.mul == 1 else f"row * {rule.mul}"
        text = text if rule.div == 1 else f"{text} / {rule.div}"
        return _plus(text, ahead - rule.pad)

    def _table(self, values: tuple[int, ...]) -> str:
        if values not in self.tables:
            self.tables[values] = TableView(f"{self.name}_rows{len(self.tables)}", values)
        return self.tables[values].name

    def _output(self, call: Call, index: int) -> OutputView:
        out = call.outputs[index]
        wraps = out.ring < out.rows
        tensor = -1 if call.partial else self.tensors[out.value]
        return OutputView(tensor, out.dtype.ctype, self.place(out.offset), out.row_bytes, wraps, out.ring)


def _made(producer: Producer) -> str:
    """How many rows there are, as a C expression; empty where all are there before the group runs."""
    match producer:
        case Ready():
            return ""
        case Streamed():
            return "net->rows_in"
        case Step(call):
            return f"net->done[{call}]"


def _plus(text: str, number: int) -> str:
    """A sum with a literal, spelled without what does nothing."""
    return text if number == 0 else f"{text} {'+' if number > 0 else '-'} {abs(number)}"


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


def _title(call: Call) -> str:
    node = call.node
    types = " ".join(f"{t.dtype.value}{list(t.shape)}" for i, t in enumerate(node.ins) if i in node.dynamic)
    result = " ".join(f"{t.dtype.value}{list(t.shape)}" for t in node.outs)
    return f"{node.name}: {type(node.op).__name__} {types} -> {result}"


def _port(port: Port, index: int, builder: _Builder) -> PortView:
    size = port.operand.rows * port.operand.row_bytes
    scale = "" if port.scale is None else _spell_float(port.scale)
    return PortView(
        index=index,
        title=comment(port.name),
        ctype=port.dtype.ctype,
        place=builder.place(port.operand.offset, "net->arena"),
        offset=port.operand.offset,
        bytes=size,
        dims=len(port.shape),
        shape=", ".join(map(str, port.shape)),
        scale=scale,
        zero_point=port.zero_point,
        element_bytes=port.dtype.bytes,
        remark=_remark(port),
        model_shape=", ".join(map(str, port.model_shape)),
        order=_order(port.perm),
    )


def _order(perm: tuple[int, ...] | None) -> str:
    if perm is None:
        return ""
    return ", ".join(map(str, perm)) + (" (NHWC)" if perm == (0, 2, 3, 1) else "")


def _remark(port: Port) -> str:
    """What the numbers of a port do not say themselves, as the end of a comment."""
    model = np.dtype(port.model_dtype)
    narrow = model.kind in "iu" and model.itemsize > port.dtype.bytes
    told = (
        f"{model.name} in the model, {8 * port.dtype.bytes} bits here" if narrow else "",
        "flags, 0 or 1" if model.kind == "b" else "",
        "the same numbers after each run" if port.constant else "",
    )
    return f": {'; '.join(t for t in told if t)}" if any(told) else ""


def _state(state: KeptState, name: str, builder: _Builder) -> StateView:
    data = state.initial.reshape(-1)
    found = set(data.tobytes())
    array = None if len(found) == 1 else ArrayView(name, state.operand.dtype.ctype, data.size, array_lines(data))
    return StateView(
        title=comment(state.name),
        ctype=state.operand.dtype.ctype,
        shape=", ".join(map(str, state.shape)),
        place=builder.place(state.operand.offset),
        bytes=state.bytes,
        copied_from="" if state.in_place else builder.place(state.renewed.offset),
        fill=None if array else found.pop(),
        initial=array,
    )


def _common_type(ports: Sequence[Port]) -> str:
    kinds = {p.dtype.ctype for p in ports}
    return kinds.pop() if len(kinds) == 1 else "void"


def _const_row(row: ConstRow, name: str) -> ArrayView:
    values = np.full(row.elements, row.value, row.dtype.numpy)
    return ArrayView(name, row.dtype.ctype, row.elements, array_lines(values))


def _params_view(params: Params, builder: _Builder) -> ParamsView:
    arrays = tuple(
        ArrayView(f.name, f.ctype, f.size, () if builder.blob else array_lines(f.values), params.offsets[f.name])
        for f in params.fields
    )
    struct = builder.structs[tuple(FieldView(a.name, a.ctype, a.count, a.offset) for a in arrays)]
    return ParamsView(builder.symbol(params), struct, comment(params.name), params.offset, arrays)


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """What the caller chose about the project's form."""

    version: str
    abi: int
    options: str
    isa: str
    byte_order: str
    blob: bool = False
    small: bool = False


def emit_options(options: Options, target: Target, said: str) -> EmitOptions:
    """The project's form; `said` is what its files say of the options."""
    return EmitOptions(
        version=VERSION,
        abi=ABI,
        options=said,
        isa=target.isa,
        byte_order=target.byte_order,
        blob=options.weights == "blob",
        small=options.goal == "size",
    )


def _group_views(program: Program, builder: _Builder) -> tuple[GroupView, ...]:
    if program.scratchpad:
        steps = tuple(builder.step(call, i, 0, pulled=False) for i, call in enumerate(program.scratchpad.calls))
        return (GroupView(0, steps, False, False, (), "", (), False),)
    groups: list[GroupView] = []
    index = 0
    for group in program.groups:
        steps = tuple(builder.step(c, index + k, index, pulled=group.pulled) for k, c in enumerate(group.calls))
        index += len(steps)
        last = len(steps) - 1
        single = all(place == last for place, _ in group.pulls)
        pulls = _merged(group.pulls)
        pull_t, pull_lines = _pull_table(pulls)
        groups.append(GroupView(len(groups), steps, group.pulled, single, pulls, pull_t, pull_lines, group.streams))
    return tuple(groups)


def _merged(pulls: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Pulls of one call that follow each other as one."""
    kept = [pull for pull, after in zip(pulls, (*pulls[1:], (-1, 0)), strict=True) if pull[0] != after[0]]
    return tuple(kept)


def _pull_table(pulls: tuple[tuple[int, int], ...]) -> tuple[str, tuple[str, ...]]:
    """The smallest unsigned type that holds the numbers, and the pairs spelled."""
    largest = max(max(pull) for pull in pulls)
    ctype = "uint8_t" if largest < 1 << 8 else "uint16_t" if largest < 1 << 16 else "int32_t"
    return ctype, tuple(f"{{{place}, {steps}}}," for place, steps in pulls)


def _stream_view(program: Program, builder: _Builder) -> StreamView | None:
    if not program.streamed:
        return None
    place, upper = program.inputs[0].operand, program.name.upper()
    beside = ((f"net->{r.memory}_arena", f"{upper}_ARENA_{r.memory.upper()}_SIZE") for r in program.regions)
    return StreamView(
        place.dtype.ctype,
        builder.place(place.offset),
        place.ring,
        place.rows,
        place.row_bytes,
        (("net->arena", f"{upper}_ARENA_SIZE"), *beside),
    )


def build_view(program: Program, options: EmitOptions, fit: Fit | None = None) -> ModelView:
    """The record for the templates; `fit` is what the code expects of a blob."""
    builder = _Builder(program, blob=options.blob)
    groups = _group_views(program, builder)
    uses_float = any("float" in (f.in_t, f.out_t, *(x.ctype for x in f.fields)) for f in builder.functions.values())
    return ModelView(
        name=program.name,
        upper=program.name.upper(),
        abi=options.abi,
        version=options.version,
        options=comment(options.options),
        arena_bytes=program.arena_bytes,
        arena_align=program.arena_align,
        regions=tuple(RegionView(r.memory, r.memory.upper(), r.bytes) for r in program.regions),
        inputs=tuple(_port(p, i, builder) for i, p in enumerate(program.inputs)),
        outputs=tuple(_port(p, i, builder) for i, p in enumerate(program.outputs)),
        input_t=_common_type(program.inputs),
        output_t=_common_type(program.outputs),
        functions=tuple(builder.functions.values()),
        groups=groups,
        const_rows=tuple(_const_row(r, builder.padding[r.dtype, r.value]) for r in program.const_rows),
        tables=tuple(builder.tables.values()),
        params=tuple(_params_view(p, builder) for p in program.params),
        params_bytes=program.params_bytes,
        blob=options.blob,
        small=options.small,
        blob_bytes=BLOB_HEADER_BYTES + program.params_bytes,
        fit=fit,
        isa=options.isa,
        byte_order=options.byte_order,
        tensors=len(program.tensors),
        states=tuple(_state(s, f"{program.name}_state{i}", builder) for i, s in enumerate(program.states)),
        counters=max((len(g.steps) for g in groups if g.pulled), default=0),
        stream=_stream_view(program, builder),
        uses_float=uses_float,
        work=builder.work,
        scratchpad=_scratchpad_view(program, builder),
        memory_map=memory_map(program),
    )


def _scratchpad_view(program: Program, builder: _Builder) -> ScratchpadView | None:
    if program.scratchpad is None:
        return None
    sources = tuple(builder.load_from(load.params) for load in program.scratchpad.params)
    return scratchpad_view(program.scratchpad, sources, builder.tensors)
