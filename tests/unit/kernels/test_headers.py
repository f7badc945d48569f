"""A kernel declares the runtime headers that its C calls functions of and the parameters that it reads: no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import pytest

from codegen.emit.functions import function_view
from codegen.emit.render import render_kernel
from codegen.ir.form import Form
from codegen.ir.op import NodeView
from codegen.kernels import KERNELS
from codegen.kernels.float32.common import HEADER
from codegen.lower.lower import kernel_function
from codegen.lower.pack import ParamsPool
from codegen.target import FEATURES, OFFERED
from tests.contract.cases import cases
from tests.contract.test_kernels import LEVELS, build_graph, in_one_mode
from tests.support.headers import functions_of_headers, needed_headers

GUARD = ("lam_f32_bits(x)",)
"""What kernels that compute real numbers include, whatever they call."""


def forms(*, every: bool) -> Iterator[tuple[NodeView, Form]]:
    """Every kernel's form of every case that it fits on some level, chosen or not; one of each context and types.

    Each case comes in every mode, or in one of them.
    """
    graph, seen = build_graph(cases() if every else in_one_mode(cases())), set()
    for view in map(graph.view, graph.nodes):
        types = tuple(t.dtype for t in (*view.ins, *view.outs))
        serving = [kernel for kernel in KERNELS if not kernel.ops or isinstance(view.op, kernel.ops)]
        for level, kernel in product(dict.fromkeys((*LEVELS, *OFFERED.values())), serving):
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
    real: bool


@cache
def spelled(*, every: bool) -> tuple[Spelled, ...]:
    found = []
    for view, form in forms(every=every):
        made = kernel_function("k", form, view, ParamsPool().place("p", form.params))
        fields = tuple(field.name for field in form.params)
        real = type(view.op).__module__.startswith("codegen.ops.float32") and HEADER in form.headers
        found.append(Spelled(form, view.name, fields, render_kernel(function_view(made, "net")), real))
    return tuple(found)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_kernel_declares_the_headers_that_its_c_calls(every: bool) -> None:
    found = [(s.form, s.name, needed_headers([s.text, *GUARD] if s.real else [s.text])) for s in spelled(every=every)]
    wrong = [
        f"{form.kernel} {name}: {form.headers}, calls {calls}" for form, name, calls in found if form.headers != calls
    ]
    assert not wrong
    assert {form.kernel for form, _, _ in found} == {kernel.name for kernel in KERNELS}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_c_that_computes_real_numbers_refuses_compilers_that_change_their_bits(every: bool) -> None:
    graph = build_graph(cases())
    views = {view.name: view for view in map(graph.view, graph.nodes)}
    real = {name for name, view in views.items() if any(kind.dtype.is_float for kind in (*view.ins, *view.outs))}
    computing = [
        s
        for s in spelled(every=every)
        if s.name in real and type(views[s.name].op).__module__.startswith("codegen.ops.float32")
    ]
    assert not [s.form.kernel for s in computing if not guarded(s.form)]
    assert len({s.form.kernel for s in computing}) > 15


def guarded(form: Form) -> bool:
    """Whether its C includes lam_f32.h, as each of these headers does."""
    return any(header.startswith(("lam_f32", "lam_x86_f32", "lam_mve_f32")) for header in form.headers)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_no_parameter_is_stored_that_the_c_does_not_read(every: bool) -> None:
    stored = {(s.form.kernel, s.name, field): s for s in spelled(every=every) for field in s.fields}
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
    assert {s.form.kernel for s in spelled(every=False)} == {kernel.name for kernel in KERNELS}
    named = {header for kernel in KERNELS for header in kernel.headers}
    assert named < set(functions_of_headers())


def test_a_header_is_found_by_the_functions_that_it_defines() -> None:
    assert needed_headers(["y = lam_clamp_i32(x, 0, 1);", "/* lam_wrap_i8 */"]) == ("lam_requant.h", "lam_wrap.h")
    assert needed_headers(["lam_clamp(x)", "x = 1;"]) == ()
