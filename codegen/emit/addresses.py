"""Where C finds things: functions, structs, parameters, padding rows and addresses, each by its name or expression."""

from __future__ import annotations

from codegen.emit.functions import function_views
from codegen.emit.spelling import plus
from codegen.ir.plan import ARENA, place_of
from codegen.ir.program import Call, Program, RowInput
from codegen.ir.weights import Params


class Names:
    """How C calls what a program has: functions, structs, parameters, padding rows, addresses."""

    def __init__(self, program: Program, *, blob: bool, const: str = "const") -> None:
        self.program = program
        self.blob = blob
        self.name = program.name
        scratchpad = "scratchpad" if program.scratchpad and program.scratchpad.cores > 1 else "net->scratchpad"
        self.work = scratchpad if program.scratchpad else "net->arena"
        self.functions = function_views(program, const)
        self.structs = {f.fields: f.struct for f in self.functions.values() if not f.like}
        self.padding = {(r.dtype, r.value): f"{self.name}_pad{i}" for i, r in enumerate(program.const_rows)}
        self.params = _numbered(program)
        self.tensors = {t.value: t.index for t in program.tensors}

    def place(self, offset: int, first: str = "") -> str:
        """The address of an offset; `first` is the pointer to the arena, or to the memory that kernels work in."""
        memory, at = place_of(self.program.regions, offset)
        return plus((first or self.work) if memory == ARENA else f"net->{memory}_arena", at)

    def params_of(self, call: Call) -> str:
        """A kernel's argument: its parameters."""
        if call.params is None:
            return "NULL"
        if call.mapped or (call.params_offset is None and not self.blob):
            return f"&{self.symbol(call.params)}"
        struct = self.functions[id(call.fn)].struct
        if call.pinned is not None:
            return f"LAM_VIEW({struct}, {plus('net->arena', call.pinned)})"
        if self.program.weights is not None:
            return f"LAM_VIEW({struct}, {plus('net->weights', call.place)})"
        scratchpad = call.params_offset is not None
        place = plus(self.work, call.params_offset or 0) if scratchpad else plus("net->weights", call.params.offset)
        return f"LAM_VIEW({struct}, {place})"

    def symbol(self, params: Params) -> str:
        """The object that a layer's parameters are."""
        return f"{self.name}_p{self.params[id(params)]}"

    def load_from(self, params: Params) -> str:
        """What a table says of where parameters are stored: in a blob, how far into its weights."""
        return str(params.offset) if self.blob else f"LAM_VIEW(uint8_t, &{self.symbol(params)})"

    def padding_of(self, item: RowInput, row_t: str) -> str:
        """The row that stands for rows outside an input, as a pointer to `row_t`."""
        if item.padding_offset is not None:
            return f"LAM_VIEW({row_t}, {plus(self.work, item.padding_offset)})"
        name = self.padding.get((item.operand.dtype, item.rule.fill)) if item.rule.fill is not None else None
        if name is None:
            return "NULL"
        return name if item.operand.dtype.ctype == row_t else f"LAM_VIEW({row_t}, {name})"


def _numbered(program: Program) -> dict[int, int]:
    """Each layer's parameters by the number of the first step that reads them; what no step names comes after all."""
    calls = [call for group in program.groups for call in group.calls]
    found: dict[int, int] = {}
    for number, call in enumerate(calls):
        if call.params is not None:
            found.setdefault(id(call.params), number)
    rest = (p for p in (*program.params, *program.mapped) if id(p) not in found)
    return found | {id(p): len(calls) + i for i, p in enumerate(rest)}
