"""lamina compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import config_option, plugin_option, shape_option
from codegen.cli.progress import Progress
from codegen.errors import ToleranceBad
from codegen.report.sensitive import comparison_text
from codegen.report.table import shape_text, text_table

if TYPE_CHECKING:
    from codegen.api import Comparison, TensorComparison


@click.command("compare", cls=Command, example="lamina compare golden.npz c.npz --tolerance 0.99,0.95")
@click.argument("a", metavar="[A.npz", required=False)
@click.argument("b", metavar="B.npz]", required=False)
@click.option("--tolerance", metavar="COS,EUC", help="Smallest similarities that pass; equality when left out.")
@click.option("--common", "only_common", is_flag=True, help="Pass over tensors that only one file holds.")
@click.option("--float", "model", metavar="MODEL", help="Instead of A and B: a float model, with the next two.")
@click.option("--quantized", metavar="Q.onnx", help="The quantized model that was made from it.")
@click.option("--input", "inputs", metavar="X.npz", help="Samples that both run on.")
@click.option("--samples", type=int, metavar="N", help="How many of them at most; 32 when not said.")
@plugin_option
@shape_option
@config_option
@json_option
@common
def command(
    a: str | None, b: str | None, tolerance: str | None, only_common: bool, as_json: bool, quiet: bool, **words: Any
) -> int:
    """Compare two files of arrays tensor by tensor, A being the reference.

    With --float, --quantized and --input: a quantized model beside its float one, the error that has accumulated at
    each tensor, and what its own layer adds.
    """
    del words["verbose"]
    models = {key: words.pop(key) for key in ("model", "quantized", "inputs")}
    if any(models.values()):
        if a is not None or not all(models.values()):
            raise click.UsageError("two models are compared by --float, --quantized and --input, without A and B")
        if tolerance is not None or only_common:
            raise click.UsageError("--tolerance and --common are for two files of arrays")
        return _models(models, words, as_json=as_json, quiet=quiet)
    if a is None or b is None:
        raise click.UsageError("give A.npz and B.npz, or --float, --quantized and --input")
    return _files((a, b), (tolerance, only_common), as_json=as_json, quiet=quiet)


def _models(models: dict[str, Any], words: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    from codegen import api

    with Progress("comparing", quiet=quiet) as progress:
        found = api.compare_quantized(**models, **words, progress=progress)
    show(comparison_text, found, as_json=as_json, quiet=quiet)
    return 0


def _files(files: tuple[str, str], how: tuple[str | None, bool], *, as_json: bool, quiet: bool) -> int:
    from codegen import api

    tolerance, only_common = how
    with Progress("comparing", quiet=quiet):
        limits = None if tolerance is None else _numbers(tolerance)
        result = api.compare(*files, limits, common=only_common)
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
