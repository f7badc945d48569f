"""Templates to text: one environment, undefined names are errors, no filter computes."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2

from codegen.emit.context import ModelView
from codegen.emit.functions import FunctionView
from codegen.resources import resource_dir


@cache
def environment() -> jinja2.Environment:
    """The only environment."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(resource_dir("templates"))),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(template: str, **context: Any) -> str:
    """One file of the project; runs of blank lines are closed up."""
    text = environment().get_template(template).render(**context)
    lines: list[str] = []
    for line in text.splitlines():
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip("\n") + "\n"


def source_texts(view: ModelView) -> dict[str, str]:
    """The files that a firmware compiles, and what they share, by path."""
    return {
        f"src/{view.name}.c": render("model.c.j2", m=view),
        f"src/{view.name}_layers.h": render("layers.h.j2", m=view),
        f"src/{view.name}_layers.c": render_layers(view),
        f"src/{view.name}_weights.c": render("weights.c.j2", m=view),
    }


def render_layers(view: ModelView) -> str:
    """The file of layer functions, with the runtime headers that their kernels declare."""
    bodies = [render_kernel(f) for f in view.functions]
    headers = sorted({header for f in view.functions for header in f.headers})
    return render("layers.c.j2", m=view, bodies=bodies, headers=headers)


def render_kernel(function: FunctionView) -> str:
    """One layer function, without the blank lines in function bodies that macros leave behind."""
    lines = render(f"kernels/{function.template}", k=function.context, f=function).rstrip().splitlines()
    following = [*lines[1:], ""]
    return "\n".join(line for line, after in zip(lines, following, strict=True) if line or not after.startswith(" "))
