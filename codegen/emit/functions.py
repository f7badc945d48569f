"""Kernel functions as templates see them: their symbols, types and comments, and which share a struct of parameters."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from codegen.emit.about import function_about
from codegen.ir.hooks import HookCall
from codegen.ir.program import KernelFn, Program
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
class FunctionView:
    """One kernel function: its symbol, element types and params arrays, and the runtime headers that it needs.

    `const` is what its parameters are qualified with.
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
    const: str = "const"
    network: str = ""

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
        return f"{self.const} {self.struct}" if self.fields else "const void"

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
    """All functions; those with the same parameters share a struct."""
    views: dict[int, FunctionView] = {}
    first: dict[tuple[FieldView, ...], str] = {}
    calls = (
        program.scratchpad.calls if program.scratchpad else [call for group in program.groups for call in group.calls]
    )
    for fn in program.functions:
        view = function_view(fn, program.name)
        about = function_about([call for call in calls if call.fn is fn])
        views[id(fn)] = replace(view, like=first.get(view.fields, ""), about=about, const=const)
        first.setdefault(view.fields, view.struct)
    return views
