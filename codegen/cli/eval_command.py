"""lamina eval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import config_option, model_options
from codegen.cli.progress import Progress
from codegen.report.table import text_table

if TYPE_CHECKING:
    from codegen.api import Evaluation


@click.command(
    "eval",
    cls=Command,
    example="lamina eval examples/digits/digits_qdq.onnx --data examples/digits/digits_test.npz --engine c,float",
)
@click.option("--data", required=True, metavar="D.npz", help="Samples x and labels y.")
@click.option("--metric", default="top1", show_default=True, help="top1 or top5.")
@click.option(
    "--engine", default="c", show_default=True, help="golden, c, float, litert, tflm, or several joined by commas."
)
@click.option("--limit", type=int, metavar="N", help="The first N samples only.")
@model_options
@config_option
@json_option
@common
def command(model: str, data: str, as_json: bool, quiet: bool, verbose: bool, **options: Any) -> None:
    """Measure the accuracy of MODEL over the labelled samples of D.npz."""
    from codegen import api

    with Progress("evaluating", quiet=quiet) as progress:
        result = api.evaluate(model, data, progress=progress, **options)
    show(_text, result, as_json=as_json, quiet=quiet)


def _text(result: Evaluation) -> str:
    rows = [(s.engine, f"{s.value:.2%}", f"{s.right} of {s.count}", f"{s.images_per_s:.4g}") for s in result.engines]
    notes = [f"{s.engine}: {s.note}" for s in result.engines if s.note]
    return "\n".join([text_table(["engine", result.metric, "right", "samples/s"], rows), *notes])
