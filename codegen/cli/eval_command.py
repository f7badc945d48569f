"""lamina eval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import config_option, model_options, scheduler_option
from codegen.cli.progress import Progress
from codegen.report.columns import score_text
from codegen.report.table import text_table

if TYPE_CHECKING:
    from codegen.api import EngineScore, Evaluation


@click.command(
    "eval",
    cls=Command,
    example="lamina eval examples/digits/digits_qdq.onnx --data examples/digits/digits_test.npz --engine c,float",
)
@click.option(
    "--data",
    required=True,
    metavar="DATA",
    help="Samples x and labels y: .npz, a folder of classes, a list of files.",
)
@click.option(
    "--metric",
    default="top1",
    show_default=True,
    help="top1, top5, f1, auc, psnr, miou, wer, map, map50, ap50, pooled_ap50, or FILE.py:FUNCTION.",
)
@click.option(
    "--engine", default="c", show_default=True, help="golden, c, float, litert, tflm, or several joined by commas."
)
@click.option("--limit", type=int, metavar="N", help="The first N samples only.")
@model_options
@config_option
@scheduler_option
@json_option
@common
def command(model: str, data: str, as_json: bool, quiet: bool, verbose: bool, **options: Any) -> None:
    """Measure how good MODEL's answers are over the labelled samples of DATA."""
    from codegen import api

    with Progress("evaluating", quiet=quiet) as progress:
        result = api.evaluate(model, data, progress=progress, **options)
    show(_text, result, as_json=as_json, quiet=quiet)


def _text(result: Evaluation) -> str:
    rows = [(s.engine, score_text(s.value, s.unit), _right(s), f"{s.images_per_s:.4g}") for s in result.engines]
    any_right = any(s.right is not None for s in result.engines)
    notes = [f"{s.engine}: {s.note}" for s in result.engines if s.note]
    return "\n".join(
        [text_table(["engine", result.metric, "right" if any_right else "samples", "samples/s"], rows), *notes]
    )


def _right(score: EngineScore) -> str:
    return f"{score.count}" if score.right is None else f"{score.right} of {score.count}"
