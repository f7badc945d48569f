"""A kernel declares the runtime headers that its C calls functions of and the parameters that it reads: no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from codegen.emit.functions import function_view
from codegen.emit.render import render_kernel
from codegen.ir.form import Form
from codegen.ir.op import NodeView
from codegen.kernels import KERNELS
from codegen.lower.lower import kernel_function
from codegen.lower.pack import ParamsPool
from codegen.target import FEATURES
from tests.contract.cases import cases
from tests.contract.test_kernels import LEVELS, build_graph
from tests.support.headers import functions_of_headers, needed_headers


def forms(level: str) -> Iterator[tuple[NodeView, Form]]:
    """Every kernel's form of every case that it fits, chosen or not; those of one context and types once."""
    graph, seen = build_graph(cases()), set()
    for view in map(graph.view, graph.nodes):
        types = tuple(t.dtype for t in (*view.ins, *view.outs))
        for kernel in KERNELS:
            form = kernel.fit(view, FEATURES[level])
            if form is not None and (key := (form.kernel, form.context, types)) not in seen:
                seen.add(key)
                yield view, form


@dataclass(frozen=True)
class Spelled:
    """One kernel's C for one case."""

    form: Form
    name: str
    fields: tuple[str, ...]
    text: str


@cache
def spelled(level: str) -> tuple[Spelled, ...]:
    found = []
    for view, form in forms(level):
        made = kernel_function("k", form, view, ParamsPool().place("p", form.params))
        fields = tuple(field.name for field in form.params)
        found.append(Spelled(form, view.name, fields, render_kernel(function_view(made, "net"))))
    return tuple(found)


@pytest.mark.parametrize("level", LEVELS)
def test_a_kernel_declares_the_headers_that_its_c_calls(level: str) -> None:
    found = [(s.form, s.name, needed_headers([s.text])) for s in spelled(level)]
    wrong = [
        f"{form.kernel} {name}: {form.headers}, calls {calls}" for form, name, calls in found if form.headers != calls
    ]
    assert not wrong
    assert len({form.kernel for form, _, _ in found}) > 30


@pytest.mark.parametrize("level", LEVELS)
def test_no_parameter_is_stored_that_the_c_does_not_read(level: str) -> None:
    stored = {(s.form.kernel, s.name, field): s for s in spelled(level) for field in s.fields}
    assert not [key for key, s in stored.items() if not reads(s.text, key[2])]
    assert len(stored) > 1000


def reads(text: str, field: str) -> bool:
    """Whether a parameter is taken from its struct, and the local that holds it named again."""
    return f"->{field};" in text and len(re.findall(rf"(?<!->)\b{field}\b", text)) > text.count(f"->{field};")


def test_a_local_that_holds_a_parameter_and_is_not_named_again_is_not_a_reader() -> None:
    assert reads("const int32_t *const zero = params->zero; y = zero[0];", "zero")
    assert not reads("const int32_t *const zero = params->zero; y = zeros[0];", "zero")
    assert not reads("y = zero[0];", "zero")


def test_every_kernel_is_looked_at_and_declares_headers_that_exist() -> None:
    seen = {form.kernel for level in LEVELS for _, form in forms(level)}
    assert seen == {kernel.name for kernel in KERNELS}
    named = {header for kernel in KERNELS for header in kernel.headers}
    assert named < set(functions_of_headers())


def test_a_header_is_found_by_the_functions_that_it_defines() -> None:
    assert needed_headers(["y = lam_clamp_i32(x, 0, 1);", "/* lam_wrap_i8 */"]) == ("lam_requant.h", "lam_wrap.h")
    assert needed_headers(["lam_clamp(x)", "x = 1;"]) == ()
