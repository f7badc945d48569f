"""Hooks of a network on this machine: answered by the C beside the project's tests, or else by golden, row by row.

Decides: how a call of C finds its layer again: by its hook, its numbers and the bytes of its params.  Golden computes
the whole layer for each row, with nothing but the row's own inputs, which the law of slices allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import CompileError, HookUnanswered
from codegen.host.manifest import read_manifest
from codegen.ir.hooks import hook_calls, hook_functions
from codegen.ir.program import Call, Program
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.shape import row_count

ANSWER_CDEF = """
extern void (*lam_host_answer)(int32_t hook, const void *const *rows, void *y, int32_t n, const int32_t *numbers,
    const void *const *params);
"""
_STUB = "lam_host_hooks.c"
_GIVEN = "int32_t, const void *const *, void *, int32_t, const int32_t *, const void *const *"


def hook_sources(project: Path) -> list[Path]:
    """The C that answers a project's hooks, where their plug-ins have any."""
    return sorted((project / "test").glob("*_hooks.c"))


def answered(project: Path, where: str) -> list[Path]:
    """The same; LAM-PLUGIN-010 where some hook has none."""
    check_answered(project, read_manifest(project), where)
    return hook_sources(project)


def check_answered(project: Path, manifest: Mapping[str, Any], where: str = "") -> None:
    """Refuse a project with a hook that nothing answers: LAM-PLUGIN-010."""
    missing = [hook["name"] for hook in manifest.get("hooks", ()) if not hook["reference"]]
    if missing:
        raise HookUnanswered(f"{missing[0]} has no reference in C", where=where or manifest["name"])


def needs_answers(project: Path, manifest: Mapping[str, Any]) -> bool:
    """Whether a project has hooks without C."""
    return any(not hook["reference"] for hook in manifest.get("hooks", ()))


def stubbed(manifest: Mapping[str, Any], out: Path) -> list[Path]:
    """C that hands each hook's calls to `lam_host_answer`."""
    hooks = [hook for hook in manifest.get("hooks", ()) if not hook["reference"]]
    if not hooks:
        return []
    lines = [f'#include "{manifest["name"]}.h"', f"void (*lam_host_answer)({_GIVEN}) = 0;"]
    for index, hook in enumerate(hooks):
        lines += _stub(index, hook)
    (out / _STUB).write_text("\n".join([*lines, ""]), encoding="ascii")
    return [out / _STUB]


def _stub(index: int, hook: Mapping[str, Any]) -> Iterator[str]:
    params = [f"const {kind} *{name}" for name, kind in hook["params"].items()]
    x, y = (DType(hook[key]).ctype for key in ("in", "out"))
    head = f"void {hook['name']}(const {x} *const *rows, {y} *y, int32_t n, void *scratch"
    yield f"{', '.join([head, *params, *(f'int32_t {name}' for name in hook['numbers'])])})"
    yield "{"
    yield f"    const int32_t numbers[] = {{{', '.join([*hook['numbers'], '0'])}}};"
    yield f"    const void *const params[] = {{{', '.join([*hook['params'], '0'])}}};"
    yield "    LAM_UNUSED(scratch);"
    yield f"    lam_host_answer({index}, (const void *const *)rows, y, n, numbers, params);"
    yield "}"


class GoldenAnswers:
    """Answers a network's hooks by golden."""

    def __init__(self, program: Program) -> None:
        functions = [fn.context.function for fn in hook_functions(program) if not fn.context.reference]
        named = [(call.fn.context.function, call) for call in hook_calls(program)]
        self._calls = [(functions.index(name), call) for name, call in named if name in functions]
        self.failed: Exception | None = None

    def bind(self, ffi: Any, library: Any) -> Any:
        """Answer the calls of a library from now on, as long as what is returned lives."""
        bound = ffi.callback(f"void({_GIVEN})", lambda *given: self(ffi, *given))
        library.lam_host_answer = bound
        return bound

    def __call__(self, ffi: Any, hook: int, rows: Any, y: Any, n: int, numbers: Any, params: Any) -> None:
        """One call; what goes wrong is kept, for C cannot be left by an exception."""
        try:
            self._answer(ffi, self._found(ffi, hook, numbers, params), rows, y, n)
        except CompileError as error:
            self.failed = error

    def _found(self, ffi: Any, hook: int, numbers: Any, params: Any) -> Call:
        """The layer that calls; LAM-PLUGIN-010 where two that differ cannot be told apart."""
        found = [
            call
            for index, call in self._calls
            if index == hook and _has_numbers(call, numbers) and _has_params(ffi, call, params)
        ]
        first = found[0].node
        if any((c.node.op, c.node.ins, c.node.outs) != (first.op, first.ins, first.outs) for c in found):
            told = "two layers call it with the same numbers, and differ: let `fit` give what tells them apart"
            raise HookUnanswered(told, where=found[0].fn.context.function)
        return found[0]

    def _answer(self, ffi: Any, call: Call, rows: Any, y: Any, n: int) -> None:
        node, whole = call.node, call.fn.run == "whole"
        at, ins = 0, list(node.consts)
        for index, read in zip(node.dynamic, call.inputs, strict=True):
            kind = node.ins[index]
            if read.rule.whole:
                ins[index] = _array(ffi, rows[at], kind.elements, kind).reshape(kind.shape).copy()
                at += 1
            else:
                ins[index] = _rows_read(ffi, [rows[at + i] for i in range(read.rule.taps)], read.rule, kind, n)
                at += read.rule.taps
        made = node.op.golden([x for x in ins if x is not None])[0]
        result = made if whole else made.reshape(row_count(made.shape), -1)[n]
        ffi.memmove(y, np.ascontiguousarray(result).tobytes(), result.nbytes)


def _rows_read(ffi: Any, pointers: Sequence[Any], rule: Any, kind: TensorType, n: int) -> Array:
    """A tensor of zeros with the rows that C hands over."""
    x = np.zeros(kind.shape, kind.dtype.numpy)
    lines = x.reshape(row_count(kind.shape), -1)
    for tap, pointer in enumerate(pointers):
        row = rule.first(n) + tap * rule.dilation
        if pointer != ffi.NULL and 0 <= row < len(lines):
            lines[row] = _array(ffi, pointer, lines.shape[1], kind)
    return x


def _array(ffi: Any, pointer: Any, elements: int, kind: TensorType) -> Array:
    return np.frombuffer(ffi.buffer(pointer, elements * kind.dtype.bytes), kind.dtype.numpy)


def _has_numbers(call: Call, numbers: Any) -> bool:
    return all(numbers[i] == value for i, (_, value) in enumerate(call.fn.context.pairs))


def _has_params(ffi: Any, call: Call, params: Any) -> bool:
    fields = call.params.fields if call.params else ()
    places = {name: i for i, name in enumerate(call.fn.offsets)}
    return all(_same(ffi, params[places[field.name]], field.values) for field in fields)


def _same(ffi: Any, pointer: Any, values: Array) -> bool:
    return bytes(ffi.buffer(pointer, values.nbytes)) == values.tobytes()
