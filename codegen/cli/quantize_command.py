"""lamina quantize."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import (
    caffemodel_option,
    config_option,
    model_argument,
    plugin_option,
    scheduler_option,
    shape_option,
    target_option,
)
from codegen.cli.progress import Progress
from codegen.report.quantized import quantized_text

if TYPE_CHECKING:
    from codegen.api import Quantized


@click.command(
    "quantize",
    cls=Command,
    example="lamina quantize float.onnx --calib samples.npz --config model.toml -o quantized.onnx",
)
@model_argument
@caffemodel_option
@click.option(
    "--calib",
    metavar="DATA",
    help="Samples of what the network will see: a .npz, or a folder or .txt list of pictures or sounds; "
    "made up when not given.",
)
@click.option("-o", "--out", metavar="Q.onnx", help="Where the quantized model goes; its report beside it as .json.")
@target_option
@plugin_option
@shape_option
@click.option(
    "--weights",
    type=click.Choice([*map(str, range(2, 9)), "mixed"]),
    help="Bits of the weights; 8 when not said; mixed: layer by layer.",
)
@click.option(
    "--activations",
    type=click.Choice(["8", "16", "mixed"]),
    help="Bits of the tensors; 8 when not said; mixed: layer by layer.",
)
@click.option(
    "--budget", metavar="COST=N,..", help="What mixed bits may cost, as arena=64K,flash=512K,instructions=20M."
)
@click.option("--scales", type=click.Choice(["float", "pot"]), help="float, or pot: powers of two.")
@click.option(
    "--granularity",
    type=click.Choice(["channel", "tensor"]),
    help="Scales of the weights: one per output channel, or one.",
)
@click.option(
    "--recipe", type=click.Choice(["fast", "default", "best"]), help="How much is tried; see docs/quantize.md."
)
@click.option("--table-in", metavar="T", help="Ranges of tensors, of --table-out or of another tool.")
@click.option("--table-out", metavar="T", help="Where the ranges go: T.toml, or TPU-MLIR's text.")
@click.option("--samples", type=int, metavar="N", help="How many samples at most; 512 when not said.")
@click.option("--seed", type=int, help="By which they are drawn; 0 when not said.")
@click.option("--keep-float", multiple=True, metavar="NAME", help="A node or a tensor that stays float.")
@click.option("--eval", "eval_data", metavar="E.npz", help="Labelled samples x and y: score both networks.")
@click.option("--metric", help="Of --eval: as of `lamina eval`; top1 when not said.")
@click.option("--max-drop", type=float, metavar="POINTS", help="Exit code 1 where the score loses more.")
@click.option(
    "--stop-after",
    type=click.Choice(["inspect", "rewrite", "calibrate"]),
    help="Stop there; rewrite: -o gets the float network.",
)
@config_option
@scheduler_option
@json_option
@common
def command(
    model: str,
    calib: str | None,
    weights: str | None,
    activations: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> int:
    """Quantize the float MODEL by the samples of DATA: an ONNX file with QuantizeLinear and DequantizeLinear nodes."""
    from codegen import api

    if options["out"] is None and options["stop_after"] is None:
        raise click.UsageError("where does the model go? Give -o Q.onnx, or --stop-after.")
    with Progress("calibrating", quiet=quiet) as progress:
        options |= {"weights": _bits(weights), "activations": _bits(activations)}
        made = api.quantize(model, calib, progress=progress, **options)
    show(lambda _: _text(made), made.report, as_json=as_json, quiet=quiet)
    return int(made.report.scored is not None and made.report.scored.missed)


def _bits(word: str | None) -> int | str | None:
    return int(word) if word is not None and word.isdigit() else word


def _text(made: Quantized) -> str:
    written = f"\nwritten to {made.path}" if made.path is not None else ""
    return quantized_text(made.report) + written
