"""lamina profile."""

from __future__ import annotations

from typing import Any

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import model_options
from codegen.cli.progress import Progress
from codegen.report.profile import profile_text


@click.command("profile", cls=Command, example="lamina profile examples/digits/digits_qdq.onnx -t cortex-m4")
@click.option("--opt-level", metavar="-Ox", help="The C compiler's level; the target's own when left out.")
@click.option("--cycles", is_flag=True, help="Estimate cycles too, by the target's table and what was executed.")
@click.option("--estimate", is_flag=True, help="Build and run nothing: about what layers take, by the chip's file.")
@click.option("--repeats", type=int, help="Inferences on the host, 15 when left out; the median counts.")
@model_options
@json_option
@common
def command(model: str, target: str, as_json: bool, quiet: bool, verbose: bool, **options: Any) -> None:
    """Count what each layer of MODEL costs on an emulated chip, or time it on the host."""
    from codegen import api

    with Progress("profiling", quiet=quiet):
        result = api.profile(model, target, **options)
    show(profile_text, result, as_json=as_json, quiet=quiet)
