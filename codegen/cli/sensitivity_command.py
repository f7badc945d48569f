"""lamina sensitivity."""

from __future__ import annotations

from typing import Any

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
from codegen.report.sensitive import sensitivity_text


@click.command(
    "sensitivity", cls=Command, example="lamina sensitivity float.onnx --calib samples.npz --config model.toml"
)
@model_argument
@caffemodel_option
@click.option("--calib", required=True, metavar="DATA", help="Samples of what the network will see.")
@click.option(
    "--by",
    type=click.Choice(["layer", "type", "tensor"]),
    default="layer",
    show_default=True,
    help="What is quantized by itself: a layer, all layers of an operator, or each tensor.",
)
@target_option
@plugin_option
@shape_option
@click.option("--samples", type=int, metavar="N", help="How many samples at most; 512 when not said.")
@click.option("--seed", type=int, default=0, show_default=True, help="By which they are drawn.")
@click.option("--keep-float", multiple=True, metavar="NAME", help="A node or a tensor that stays float.")
@config_option
@scheduler_option
@json_option
@common
def command(model: str, calib: str, as_json: bool, quiet: bool, verbose: bool, **options: Any) -> None:
    """Rank the layers of the float MODEL by what quantizing each of them alone loses."""
    from codegen import api

    with Progress("judging", quiet=quiet) as progress:
        found = api.sensitivity(model, calib, progress=progress, **options)
    show(sensitivity_text, found, as_json=as_json, quiet=quiet)
