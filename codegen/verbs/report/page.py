"""The page itself: records in, one HTML file out, which asks nobody for anything.

Decides: that names of a model, which are anybody's text, are escaped twice: control characters here, markup by the
template's environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jinja2

from codegen.errors import CompileError
from codegen.report.columns import size_text
from codegen.report.profile import Profile
from codegen.report.table import readable, shape_text
from codegen.resources import VERSION, resource_dir
from codegen.verbs.inspection import Inspection, Violation
from codegen.verbs.report.pictures import GraphPicture, MemoryPicture, graph_picture, memory_picture

if TYPE_CHECKING:
    from codegen.verbs.report.content import Report

_NONE = "\N{EN DASH}"
"""What stands where there is no number; the page's script knows it."""


@dataclass(frozen=True, slots=True)
class View:
    """One target: its record, its pictures, the group of each layer, and what each layer took, where it was counted."""

    look: Inspection
    graph: GraphPicture
    memory: MemoryPicture | None
    groups: Mapping[str, int]
    counted: Mapping[str, int]
    profile: Profile | None
    most_macs: int
    most_counted: int


def page(report: Report, *, compared: bool, version: int | None = None) -> str:
    """The whole page; `compared` says whether an older report was given.

    A page that is served has a `version`, and asks its server for a newer one.
    """
    report = readable(report)
    profiles = {p.target: p for p in report.profiles}
    views = [_view(look, profiles.get(look.target)) for look in report.targets]
    template = _environment().get_template("page.html.j2")
    return template.render(report=report, views=views, compared=compared, live=version, version=VERSION)


def refused_page(error: CompileError, version: int) -> str:
    """What is served in place of a report that cannot be made."""
    problems = tuple(Violation.of(problem) for problem in error.problems())
    template = _environment().get_template("refused.html.j2")
    return template.render(problems=readable(problems), live=version)


def _view(look: Inspection, profile: Profile | None) -> View:
    groups = {name: g.index for g in look.plan.groups for name in g.nodes} if look.plan else {}
    counted = {x.name: x.instructions for x in profile.layers if x.instructions is not None} if profile else {}
    made = {row.output for row in look.layers}
    inputs = list(dict.fromkeys(i for row in look.layers for i in row.inputs if i not in made))
    return View(
        look,
        graph_picture(look.layers, inputs, groups),
        memory_picture(look.plan) if look.plan else None,
        groups,
        counted,
        profile,
        max((row.macs for row in look.layers), default=0) or 1,
        max(counted.values(), default=0) or 1,
    )


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource_dir("templates") / "report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    made.filters["size"] = _size
    made.filters["shape"] = shape_text
    made.filters["number"] = _number
    made.filters["percent"] = lambda share: f"{100 * share:.2f}"
    made.filters["per"] = lambda count, macs: f"{count / macs:.2f}" if macs else _NONE
    return made


def _size(count: int | None) -> str:
    return _NONE if count is None else size_text(count)


def _number(count: float | None) -> str:
    """A count with its thousands apart, or three digits of what is no whole number; a dash for none."""
    if count is None:
        return _NONE
    if isinstance(count, int) or abs(count) >= 100:
        return f"{count:,.0f}"
    return f"{count:.3g}"
