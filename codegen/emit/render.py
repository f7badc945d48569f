"""Templates to text: one environment for the folders they lie in, undefined names are errors, no filter computes."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2

from codegen.emit.compiled import KeptBeside
from codegen.emit.context import ModelView
from codegen.emit.functions import FunctionView
from codegen.emit.numbers import with_locals
from codegen.errors import TemplateBroken
from codegen.errors.base import first_line
from codegen.resources import ROOTS, Roots


@cache
def environment(roots: Roots = ROOTS) -> jinja2.Environment:
    """The only environment of these folders."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([_of_plugins(roots), jinja2.FileSystemLoader(roots.templates)]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        optimized=False,
        auto_reload=False,
        bytecode_cache=KeptBeside(),
    )


def _of_plugins(roots: Roots) -> jinja2.BaseLoader:
    """The templates of plug-ins, each below its plug-in's name."""
    folders = {root.name: jinja2.FileSystemLoader(root.folder) for root in roots.plugins}
    return jinja2.PrefixLoader({"kernels": jinja2.PrefixLoader(folders)})


def render(template: str, roots: Roots = ROOTS, **context: Any) -> str:
    """One file of the project; runs of blank lines are closed up."""
    text = environment(roots).get_template(template).render(**context)
    lines: list[str] = []
    for line in text.splitlines():
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip("\n") + "\n"


def source_texts(view: ModelView, roots: Roots = ROOTS) -> dict[str, str]:
    """The files that a firmware compiles, and what they share, by path."""
    return {
        f"src/{view.name}.c": render("model.c.j2", roots, m=view),
        f"src/{view.name}_layers.h": render("layers.h.j2", roots, m=view),
        f"src/{view.name}_layers.c": render_layers(view, roots),
        f"src/{view.name}_weights.c": render("weights.c.j2", roots, m=view),
    }


def render_layers(view: ModelView, roots: Roots = ROOTS) -> str:
    """The file of layer functions, with the runtime headers that their kernels declare."""
    bodies = [render_kernel(f, roots) for f in view.codes]
    headers = sorted({header for f in view.codes for header in f.headers})
    return render("layers.c.j2", roots, m=view, bodies=bodies, headers=headers)


def render_kernel(function: FunctionView, roots: Roots = ROOTS) -> str:
    """One layer function, without the blank lines in function bodies that macros leave behind."""
    lines = _rendered(function, roots).rstrip().splitlines()
    following = [*lines[1:], ""]
    text = "\n".join(line for line, after in zip(lines, following, strict=True) if line or not after.startswith(" "))
    return with_locals(text) if function.told else text


def _rendered(function: FunctionView, roots: Roots) -> str:
    """The function's text; LAM-PLUGIN-007 where the template is a plug-in's and wrong."""
    try:
        return render(f"kernels/{function.template}", roots, k=function.context, f=function)
    except (jinja2.TemplateError, TypeError, AttributeError, ArithmeticError) as error:
        root = next((r for r in roots.plugins if function.template.startswith(f"{r.name}/")), None)
        if root is None:
            raise
        line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
        where = f"{root.name}, {function.template.removeprefix(f'{root.name}/')}{line}"
        raise TemplateBroken(first_line(error), where=where) from error
