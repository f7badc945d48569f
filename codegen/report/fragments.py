"""Records as fragments of HTML, for a notebook: figures, tables and a picture, without a script and without a request.

Decides: how a fragment looks, on light and on dark ground.  The elements are a library's, which escapes all text; what
a model calls its tensors has been put on one line before (`readable`).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from codegen.records import record
from codegen.report.columns import Size
from codegen.report.pictures import memory_picture
from codegen.report.plan import PlanRecord
from codegen.report.table import readable

_STYLE = (
    ".lamina{font:14px/1.45 system-ui,sans-serif}.lamina h4{margin:8px 0 4px}.lamina p{margin:2px 0}"
    ".lamina .wide{overflow:auto;max-height:24em;margin:6px 0}.lamina table{border-collapse:collapse}"
    ".lamina th,.lamina td{padding:2px 9px;text-align:left;border-bottom:1px solid #8888}"
    ".lamina td.number{text-align:right;font-variant-numeric:tabular-nums}"
    ".lamina svg{display:block;width:100%;max-width:900px;font:12px system-ui,sans-serif}"
    ".lamina svg text{fill:currentColor}.lamina svg rect{stroke:#888;stroke-width:.6;fill-opacity:.6}"
)
_COLORS = {
    "input": "#8fb8de",
    "output": "#9fd3a4",
    "tensor": "#b9bec7",
    "ring": "#f7c873",
    "scratch": "#e6a3a3",
    "state": "#c6a9d9",
}
_NONE = "\N{EN DASH}"


@record
class Table:
    """Rows under their heads; a dash stands for None."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[object]]


def fragment(
    title: str, figures: Sequence[tuple[str, object]], tables: Sequence[Table], plan: PlanRecord | None = None
) -> str:
    """A `div` with a title, figures by their names, memory over time where there is a plan, and tables."""
    root = Element("div", {"class": "lamina"})
    SubElement(root, "style").text = _STYLE
    SubElement(root, "h4").text = readable(title)
    _figures(root, figures)
    if plan is not None and plan.groups:
        _memory(root, plan)
    for table in tables:
        _table(root, table)
    return tostring(root, encoding="unicode", method="html")


def sized(count: int | None) -> Size | None:
    """A number of bytes, to be shown as people read it."""
    return None if count is None else Size(count)


def _figures(root: Element, figures: Sequence[tuple[str, object]]) -> None:
    for name, value in figures:
        if value is not None:
            line = SubElement(root, "p")
            line.text = f"{name}: "
            SubElement(line, "strong").text = _cell(value)


def _table(root: Element, table: Table) -> None:
    if not table.rows:
        return
    SubElement(root, "h4").text = table.title
    made = SubElement(SubElement(root, "div", {"class": "wide"}), "table")
    head = SubElement(SubElement(made, "thead"), "tr")
    for name in table.heads:
        SubElement(head, "th", {"scope": "col"}).text = name
    body = SubElement(made, "tbody")
    for row in table.rows:
        line = SubElement(body, "tr")
        for value in row:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            SubElement(line, "td", {"class": "number"} if is_number else {}).text = _cell(value)


def _cell(value: object) -> str:
    if value is None:
        return _NONE
    if isinstance(value, float):
        return f"{value:.4g}"
    plain_number = isinstance(value, int) and not isinstance(value, bool) and type(value).__str__ is int.__str__
    return f"{value:,}" if plain_number else str(readable(str(value)))


def _memory(root: Element, plan: PlanRecord) -> None:
    """Addresses upwards, groups to the right; each rectangle says what it is."""
    picture = memory_picture(readable(plan))
    label = "memory over time: addresses upwards, groups of layers to the right"
    svg = SubElement(root, "svg", {"viewBox": picture.view, "role": "img", "aria-label": label})
    for box in picture.boxes:
        size = {"width": f"{box.width:.1f}", "height": f"{box.height:.1f}", "fill": _COLORS[box.kind]}
        made = SubElement(svg, "g", {"transform": f"translate({box.x:.1f} {box.y:.1f})"})
        SubElement(made, "title").text = box.says
        SubElement(made, "rect", size)
        if box.label:
            SubElement(made, "text", {"x": "4", "y": "12"}).text = box.label
    for tick in picture.ticks:
        SubElement(svg, "text", {"x": f"{tick.x:.1f}", "y": str(picture.foot)}).text = str(tick.group)
