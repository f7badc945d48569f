"""The page itself: records in, one HTML file out, which asks nobody for anything.

Decides: which tabs there are; and that names of a model, which are anybody's text, are escaped twice: control
characters here, markup by the template's environment.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup, escape

from codegen.errors import CompileError
from codegen.records import record
from codegen.report.columns import score_text, size_text
from codegen.report.pictures import ChartPicture, MemoryPicture, front_picture, memory_picture
from codegen.report.plan import TensorRecord
from codegen.report.profile import Profile
from codegen.report.table import plain, readable, shape_text
from codegen.resources import VERSION, resource_dir
from codegen.verbs.fits import Fit
from codegen.verbs.inspection import Inspection, LayerRow, Violation
from codegen.verbs.report.costs import LayerCost, Roof
from codegen.verbs.report.pictures import GraphPicture, graph_picture, roof_picture
from codegen.verbs.report.steps import Step

if TYPE_CHECKING:
    from codegen.verbs.report.content import Report

_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")
_MILLION = 1_000_000
_NONE = "\N{EN DASH}"
"""What stands where there is no number; the page's script knows it."""


@record
class Tensor:
    """A line of the graph: who makes it and who reads it, where it lies, and its place among the compared numbers."""

    name: str
    maker: str
    readers: tuple[str, ...]
    row: LayerRow | None
    held: TensorRecord | None
    numbers: int | None


@record(kw_only=True)
class View:
    """One target: its record, its pictures, the group of each layer, and what each layer took, where it was counted.

    `values` are the tensors between layers, `tensors` their places in it by name.
    """

    look: Inspection
    graph: GraphPicture
    values: tuple[Tensor, ...]
    tensors: Mapping[str, int]
    memory: MemoryPicture | None
    front: ChartPicture | None
    roof: Roof | None
    roof_chart: ChartPicture | None
    costs: Mapping[str, LayerCost]
    groups: Mapping[str, int]
    counted: Mapping[str, int]
    profile: Profile | None
    most_macs: int
    most_counted: int
    bound: str
    places: tuple[LayerRow, ...]
    steps: tuple[Step, ...]


@record
class Cell:
    """Whether a network fits a chip, in words; `order` sorts it."""

    fits: bool
    says: str
    order: float


@record
class MatrixRow:
    """One chip, and each network on it."""

    chip: str
    cells: tuple[Cell, ...]


def page(report: Report, *, compared: bool, version: int | None = None) -> str:
    """The whole page; `compared` says whether an older report was given.

    A page that is served has a `version`, and asks its server for a newer one.
    """
    report = readable(report)
    tabs = list(_tabs(report, compared))
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            report=report,
            places={n.tensor: i for i, n in enumerate(report.accuracy.numbers)} if report.accuracy else {},
            views=list(_views(report)),
            matrix=list(_matrix(report)),
            tabs=tabs,
            titles=dict(tabs),
            live=version,
            version=VERSION,
        )
    )


def refused_page(error: CompileError, version: int) -> str:
    """What is served in place of a report that cannot be made."""
    problems = tuple(Violation.of(problem) for problem in error.problems())
    template = _environment().get_template("refused.html.j2")
    return template.render(problems=readable(problems), live=version)


def _tabs(report: Report, compared: bool) -> Iterator[tuple[str, str]]:
    yield "summary", "Summary"
    if report.chips:
        yield "chips", "Where it fits"
    yield from (("graph", "Graph"), ("memory", "Memory"), ("cost", "Cost"))
    if report.accuracy:
        yield "accuracy", "Accuracy"
    yield from (("rules", "Rules"), ("interface", "Interface"))
    if compared:
        yield "changes", "Changes"


def _views(report: Report) -> Iterator[View]:
    profiles = {p.target: p for p in report.profiles}
    limits = {r.target: r for r in report.roofs}
    numbers = report.accuracy.numbers if report.accuracy else ()
    known = {name: i for i, n in enumerate(numbers) for name in (n.tensor, *n.names)}
    for look in report.targets:
        view = _view(look, profiles.get(look.target), limits.get(look.target), known)
        yield replace(view, steps=tuple(s for s in report.steps if s.target in ("", look.target)))


def _view(look: Inspection, profile: Profile | None, roof: Roof | None, known: Mapping[str, int]) -> View:
    groups = {name: g.index for g in look.plan.groups for name in g.nodes} if look.plan else {}
    counted = {x.name: x.instructions for x in profile.layers if x.instructions is not None} if profile else {}
    made = {row.output for row in look.layers}
    inputs = list(dict.fromkeys(i for row in look.layers for i in row.inputs if i not in made))
    values = tuple(_values(look, inputs, known))
    chart = roof_picture(roof) if roof else None
    return View(
        look=look,
        graph=graph_picture(look.layers, inputs, groups),
        values=values,
        tensors={value.name: index for index, value in enumerate(values)},
        memory=memory_picture(look.plan) if look.plan else None,
        front=front_picture(look.plan.front) if look.plan and look.plan.front else None,
        roof=roof if chart else None,
        roof_chart=chart,
        costs={c.layer: c for c in roof.layers} if roof else {},
        groups=groups,
        counted=counted,
        profile=profile,
        most_macs=max((row.macs for row in look.layers), default=0) or 1,
        most_counted=max(counted.values(), default=0) or 1,
        bound=_bound(look),
        places=tuple(row for row in look.layers if row.place),
        steps=(),
    )


def _values(look: Inspection, inputs: Sequence[str], known: Mapping[str, int]) -> Iterator[Tensor]:
    """Every tensor that a layer reads or makes."""
    readers: defaultdict[str, list[str]] = defaultdict(list)
    for row in look.layers:
        for name in row.inputs:
            readers[name].append(row.name)
    held = {t.tensor: t for t in look.plan.tensors} if look.plan else {}
    rows = {row.output: row for row in look.layers}
    for name in (*inputs, *rows):
        made = rows.get(name)
        number = known.get(made.tensor if made and made.tensor else name, known.get(name))
        yield Tensor(name, made.name if made else "", tuple(readers[name]), made, held.get(name), number)


def _bound(look: Inspection) -> str:
    """How near an arena is to what no placement goes below."""
    if look.arena_bytes is None or look.arena_lower_bound_bytes is None:
        return ""
    more = look.arena_bytes - look.arena_lower_bound_bytes
    lead = ", " if look.ram_bytes else ""
    return f"{lead}{size_text(more)} above the lower bound" if more > 0 else f"{lead}the least that its groups take"


def _matrix(report: Report) -> Iterator[MatrixRow]:
    """Chips that any network fits first."""
    networks = [{c.target: c for c in chips} for chips in (report.chips, *(o.chips for o in report.others))]
    rows = [MatrixRow(name, tuple(_cell(n[name]) for n in networks)) for name in (networks[0] if networks else ())]
    yield from sorted(rows, key=lambda row: -sum(cell.fits for cell in row.cells))


def _cell(fit: Fit) -> Cell:
    if not fit.fits:
        return Cell(False, fit.reason, math.inf)
    took = "fits" if fit.milliseconds is None else f"{_number(fit.milliseconds)} ms"
    return Cell(True, f"{took}, {_size(fit.arena_bytes)}", fit.milliseconds or 0.0)


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource_dir("templates") / "report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
        auto_reload=False,
    )
    made.filters["size"] = _size
    made.filters["shape"] = shape_text
    made.filters["number"] = _number
    made.filters["percent"] = lambda share: f"{100 * share:.2f}"
    made.filters["per_cent_of"] = _of_whole
    made.filters["per"] = lambda count, macs: f"{count / macs:.2f}" if macs else _NONE
    made.filters["decibels"] = lambda gain: _NONE if gain is None else f"{gain:+.2f}"
    made.filters["millions"] = lambda count: f"{count / 1e6:,.3g} million" if count >= _MILLION else _number(count)
    made.filters["score"] = score_text
    made.filters["options"] = _options
    made.filters["json"] = _json
    return made


def _options(text: str) -> Markup:
    """A sentence in which the names of options stay on one line."""
    return Markup(_OPTION.sub(r'<span class="option">\1</span>', str(escape(text))))


def _json(record: Any) -> str:
    """A record for the page's script: JSON in which nothing ends the script."""
    return jinja2.utils.htmlsafe_json_dumps(plain(record), separators=(",", ":"))


def _of_whole(part: int, whole: int) -> str:
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 1 else "under 1 %"


def _size(count: int | None) -> str:
    return _NONE if count is None else size_text(count)


def _number(count: float | None) -> str:
    """A count with its thousands apart, or three digits of what is no whole number; a dash for none."""
    if count is None:
        return _NONE
    if isinstance(count, int) or abs(count) >= 100:
        return f"{count:,.0f}"
    return f"{count:.3g}"
