"""draw_plan: a memory plan as a picture in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from codegen.arguments import takes_declared
from codegen.datafiles import path_given, written_file
from codegen.errors import OptionBad, PictureNotWritable
from codegen.report.plan import PlanRecord
from codegen.report.plot import plan_picture


@takes_declared
def draw_plan(plan: PlanRecord, path: str | Path, title: str = "memory plan") -> None:
    """Memory over time as a picture, whole or not at all; `inspect(...).plan` is such a plan.

    The file's ending says what it is: .png, or SVG with .svg and with none.  The folder must be there.

    Raises:
        ExtraMissing: LAM-API-002, matplotlib is not installed.
        PictureNotWritable: LAM-API-013.
        OptionBad: LAM-IMPORT-030, `plan` is no plan, or `path` no path.
    """
    if not isinstance(plan, PlanRecord):
        hint = "give the plan of a model: draw_plan(inspect(model).plan, path)"
        raise OptionBad(f"{type(plan).__name__} is no plan", where="plan", hint=hint)
    path = path_given(path, "path")
    picture = plan_picture(plan, title, _form(path))
    with written_file(path, lambda found: PictureNotWritable(found, where=str(path))) as file:
        file.write(picture)


def _form(path: Path) -> Literal["svg", "png"]:
    """What the file's ending asks for."""
    ending = path.suffix.lower()
    if ending not in ("", ".svg", ".png"):
        raise PictureNotWritable(f"no pictures are drawn as {ending}", where=str(path), hint="choose .svg or .png")
    return "png" if ending == ".png" else "svg"
