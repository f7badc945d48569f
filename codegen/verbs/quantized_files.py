"""What `quantize` writes: the model, its report as JSON beside it, and a table of ranges.

Decides: that nothing is written over what is read, and that all of it is written or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from codegen.datafiles import check_outputs, check_place, path_given
from codegen.errors import CompileError, ModelNotWritten
from codegen.quantizer.scheme import Scheme
from codegen.report.quantized import QuantReport
from codegen.report.table import as_json
from codegen.verbs.quantizer_files import Output, table_output, table_refusal
from codegen.verbs.quantizing import Quantizing


def table_of(how: Quantizing, scheme: Scheme, report: QuantReport) -> list[Output]:
    """The table of ranges, where one was asked for."""
    if how.table_out is None:
        return []
    return [table_output(path_given(how.table_out, "table_out"), scheme.tensors, report.samples)]


def model_and_report(data: bytes, report: QuantReport, how: Quantizing) -> list[Output]:
    """The model's file and, beside it, the report, where they were asked for."""
    pair = zip(places_of(how), (data, (as_json(report) + "\n").encode()), strict=False)
    return [Output(file, content, _refusal(file)) for file, content in pair]


def places_of(how: Quantizing) -> list[Path]:
    """Where the model and its report go, if anywhere."""
    if how.out is None:
        return []
    path = path_given(how.out, "out")
    if not path.name:
        raise _refusal(path)("names no file")
    return [path, path.with_suffix(".json")]


def check_files(model: Path, how: Quantizing) -> None:
    """Refuse to write over what is read, before anything is computed."""
    table = [] if how.table_out is None else [path_given(how.table_out, "table_out")]
    read = [Path(p) for p in (how.calib, how.config, how.table_in) if isinstance(p, str | Path)]
    check_outputs([*places_of(how), *table], [model, *read])
    for path in places_of(how):
        check_place(path, _refusal(path))
    for path in table:
        check_place(path, table_refusal(path))


def _refusal(file: Path) -> Callable[[str], CompileError]:
    return lambda found: ModelNotWritten(found, where=str(file))
