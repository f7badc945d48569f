"""A metric that a user's file defines: FILE.py:FUNCTION, a function of all answers and all labels.

Decides: how it is found and called.  The file is Python and is run; nothing is run that was not named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codegen.errors import MetricBad
from codegen.ir.quant import Array
from codegen.metrics.metric import Score, Seen
from codegen.python_files import guarded, run_python
from codegen.records import record


@record
class Function:
    """`call(outputs, labels) -> float`: outputs by name of each sample, and the data's `y`, row by row."""

    name: str
    call: Callable[[Sequence[Mapping[str, Array]], Sequence[Any]], float]
    keys: tuple[str, ...] = ("y",)
    real: bool = True

    def truths(self, arrays: Mapping[str, Array], where: str) -> Sequence[Any]:
        """The rows of `y`, whatever they are."""
        return list(arrays["y"])

    def judge(self, seen: Seen, truth: Any) -> tuple[dict[str, Array], Any]:
        """Everything is left to the function."""
        return dict(seen.outputs), truth

    def total(self, verdicts: Sequence[tuple[dict[str, Array], Any]]) -> Score:
        """What the function says; LAM-API-031 when it fails, or gives no finite number."""
        outputs, truths = zip(*verdicts, strict=True)
        with guarded(self._bad):
            value = float(self.call(outputs, truths))
        if not math.isfinite(value):
            raise self._bad(f"gives {value}, not a finite number")
        return Score(value, unit="")

    def _bad(self, found: str) -> MetricBad:
        return MetricBad(found, where=self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        """By its name: another process reads the file itself."""
        return read_function, (self.name,)


def read_function(name: str) -> Function:
    """The function of FILE.py:FUNCTION; LAM-API-031 for a file that cannot be run, or that has no such function."""
    file, _, function = name.rpartition(":")
    path = Path(file).resolve()
    module = run_python(path, f"lamina_metric_{path.stem}", lambda found: MetricBad(found, where=file))
    call = getattr(module, function, None)
    if not callable(call):
        raise MetricBad(f"has no function {function!r}", where=file)
    return Function(f"{path}:{function}", call)
