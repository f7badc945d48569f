"""draw_plan: a memory plan as a picture in a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from codegen.errors import PictureNotWritable
from codegen.report.plan import PlanRecord
from codegen.report.plot import plan_picture


def draw_plan(plan: PlanRecord, path: str | Path, title: str = "memory plan") -> None:
    """Memory over time as an SVG file, whole or not at all; `inspect(...).plan` is such a plan.

    The folder must be there.

    Raises:
        ExtraMissing: LAM-API-002, matplotlib is not installed.
        PictureNotWritable: LAM-API-013.
    """
    picture, path = plan_picture(plan, title), Path(path)
    aside: str | None = None
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(picture)
        os.chmod(aside, 0o644)
        os.replace(aside, path)
        aside = None
    except OSError as error:
        raise PictureNotWritable(error.strerror or type(error).__name__, where=str(path)) from error
    finally:
        if aside is not None:
            Path(aside).unlink(missing_ok=True)
