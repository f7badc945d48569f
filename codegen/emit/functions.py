"""Kernel functions as templates see them: their symbols, types and comments, and which share a struct of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

from codegen.emit.about import function_about
from codegen.emit.numbers import Number, spelled
from codegen.ir.hooks import HookCall
from codegen.ir.program import Call, KernelFn, Program
from codegen.records import record


@record
class FieldView:
    """One array of a kernel's parameters."""

    name: str
    ctype: str
    count: int
    offset: int
    about: str = field(default="", compare=False)

    @property
    def record(self) -> bool:
        """Whether its numbers have names: it is a struct of the runtime."""
        return self.ctype.startswith("lam_")

    @property
    def declared(self) -> str:
        """As a member of its struct, with what it means."""
        member = f"{self.ctype} {self.name}" if self.record else f"{self.ctype} {self.name}[{self.count}]"
        return f"{member}; /* {self.about} */" if self.about else f"{member};"


@record
class ShapeView:
    """What a function of several shapes is told of one: an object of `struct`, with a number for each member."""

    symbol: str
    struct: str
    numbers: tuple[tuple[str, int], ...]


@record
class FunctionView:
    """One kernel function: its symbol, element types and params arrays, and the runtime headers that it needs.

    `const` is what its parameters are qualified with.
    `like` is an earlier function with the same arrays, whose struct is this one's too; `about` a comment's lines.
    `told` are the members of the struct of what it is told of a shape, where it serves several, each with its type.
    Its context then has numbers that are spelled by those names.  Of a shape, `shape` is what its function is told.
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
    const: str = "const"
    network: str = ""
    told: tuple[tuple[str, str], ...] = ()
    shape: ShapeView | None = None

    @property
    def called(self) -> str:
        """The function that is called for it."""
        return self.shape.struct.removesuffix("_shape") if self.shape else self.symbol

    @property
    def tells_shape(self) -> str:
        """The argument by which that is told of this shape."""
        return f", &{self.shape.symbol}" if self.shape else ""

    @property
    def is_hook(self) -> bool:
        """Whether it calls what the firmware provides."""
        return isinstance(self.context, HookCall)

    @property
    def struct(self) -> str:
        """The struct of its parameters."""
        return f"{self.symbol}_params"

    @property
    def params_t(self) -> str:
        """What its parameters are declared as."""
        return f"{self.const} {self.struct}" if self.fields and not self.told else "const void"

    @property
    def shape_t(self) -> str:
        """The struct of what it is told of a shape."""
        return f"{self.symbol}_shape"

    @property
    def takes_shape(self) -> str:
        """The parameter by which it, and the functions that it calls, are told of a shape; behind all others."""
        return f", const {self.shape_t} *shape" if self.told else ""

    @property
    def gives_shape(self) -> str:
        """The argument for it."""
        return ", shape" if self.told else ""

    def param(self, one: FieldView, source: str) -> str:
        """Where one of its parameters is found, `source` pointing to all of them."""
        if not self.told:
            return f"{'&' if one.record else ''}{source}->{one.name}"
        beyond = isinstance(one.offset, Number) or one.offset
        return f"LAM_VIEW({one.ctype}, {f'LAM_VIEW(uint8_t, {source}) + {one.offset}' if beyond else source})"

    @property
    def y(self) -> str:
        """How the output is declared: a pointer, or a list of pointers where there are several."""
        return f"{self.out_t} *y" if self.outputs == 1 else f"{self.out_t} *const *y"


def function_view(fn: KernelFn, network: str) -> FunctionView:
    """One kernel function of a network."""
    fields = tuple(FieldView(n, fn.dtypes[n], fn.sizes[n], at, fn.abouts[n]) for n, at in fn.offsets.items())
    types = fn.in_dtype.ctype, fn.out_dtype.ctype
    return FunctionView(
        f"{network}_{fn.symbol}", *types, fields, fn.template, fn.context, fn.outputs, fn.headers, network=network
    )


def function_views(program: Program, const: str) -> dict[int, FunctionView]:
    """All shapes of functions; those with the same parameters share a struct."""
    views: dict[int, FunctionView] = {}
    first: dict[tuple[FieldView, ...], str] = {}
    calls = _calls(program)
    for fn in program.functions:
        view = function_view(fn, program.name)
        about = function_about([call for call in calls if call.fn is fn])
        shape = _shape_view(fn, view.symbol, program.name)
        views[id(fn)] = replace(view, like=first.get(view.fields, ""), about=about, const=const, shape=shape)
        first.setdefault(view.fields, view.struct)
    return views


def _shape_view(fn: KernelFn, symbol: str, network: str) -> ShapeView | None:
    """What its function is told of it, where that serves several shapes."""
    if fn.shape is None:
        return None
    return ShapeView(f"{symbol}_told", f"{network}_{fn.code}_shape", tuple(fn.shape.numbers.items()))


def code_views(program: Program, views: dict[int, FunctionView]) -> tuple[FunctionView, ...]:
    """The functions that are emitted: of those that serve several shapes, told their numbers, the first one's."""
    found = []
    for fn in program.functions:
        if fn.shape is None:
            found.append(views[id(fn)])
        elif fn.code == fn.symbol:
            served = [other for other in program.functions if other.code == fn.symbol]
            about = function_about([call for call in _calls(program) if call.fn in served])
            found.append(replace(told_view(fn, program.name, _ctypes(served)), about=about))
    return tuple(found)


def told_view(fn: KernelFn, network: str, told: dict[str, str]) -> FunctionView:
    """A function that is told the numbers of these names, and of those the types."""
    view = function_view(fn, network)
    numbers = {name: getattr(fn.context, name) for name in told if not name.startswith(PLACE)}
    context = replace(fn.context, **{name: _number(name, value) for name, value in numbers.items()})
    fields = tuple(
        replace(one, offset=_number(PLACE + one.name, one.offset)) if PLACE + one.name in told else one
        for one in view.fields
    )
    return replace(view, context=context, fields=fields, told=tuple(told.items()))


PLACE = "at_"
"""What the name of a parameter's place in bytes begins with."""


def _number(name: str, value: int) -> Number:
    return Number(value, spelled(name))


def _ctypes(served: Sequence[KernelFn]) -> dict[str, str]:
    """The members of the struct, the widest first."""
    rows = [fn.shape.numbers for fn in served if fn.shape]
    wide = {name: any(not -(1 << 15) <= row[name] < 1 << 15 for row in rows) for name in rows[0]}
    return {name: "int32_t" if wide[name] else "int16_t" for name in sorted(wide, key=lambda name: not wide[name])}


def _calls(program: Program) -> list[Call]:
    """Of all groups, or of the scratchpad."""
    if program.scratchpad:
        return list(program.scratchpad.calls)
    return [call for group in program.groups for call in group.calls]
