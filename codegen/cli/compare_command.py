"""lamina compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.progress import Progress
from codegen.errors import ToleranceBad
from codegen.report.table import shape_text, text_table

if TYPE_CHECKING:
    from codegen.api import Comparison, TensorComparison


@click.command("compare", cls=Command, example="lamina compare golden.npz c.npz --tolerance 0.99,0.95")
@click.argument("a", metavar="A.npz")
@click.argument("b", metavar="B.npz")
@click.option("--tolerance", metavar="COS,EUC", help="Smallest similarities that pass; equality when left out.")
@click.option("--common", "only_common", is_flag=True, help="Pass over tensors that only one file holds.")
@json_option
@common
def command(a: str, b: str, tolerance: str | None, only_common: bool, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Compare two files of arrays tensor by tensor; A is the reference."""
    from codegen import api

    with Progress("comparing", quiet=quiet):
        limits = None if tolerance is None else _numbers(tolerance)
        result = api.compare(a, b, limits, common=only_common)
    show(_text, result, as_json=as_json, quiet=quiet)
    return 0 if result.passed else 1


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise ToleranceBad(f"{text!r}", where="--tolerance") from error


def _text(result: Comparison) -> str:
    headers = ["tensor", "shape", "result", "max abs", "differing", "cosine", "euclidean", "SQNR dB"]
    table = text_table(headers, [_row(t) for t in result.tensors], least=("euclidean", "cosine", "shape"))
    bad = sum(not t.within for t in result.tensors)
    if result.equal:
        said = f"equal: {len(result.tensors)} tensors"
    else:
        said = f"{'within tolerance' if result.passed else 'DIFFERENT'}: {len(result.tensors)} tensors, {bad} fail"
    return f"{table}\n{said}"


def _row(t: TensorComparison) -> tuple[object, ...]:
    said = t.problem or ("equal" if t.equal else "passes" if t.within else "fails")
    return t.name, shape_text(t.shape), said, t.max_abs, t.differing, t.cosine, t.euclidean, t.sqnr_db
