"""lamina demo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, say, show
from codegen.cli.progress import Progress
from codegen.report.columns import size_text

if TYPE_CHECKING:
    from codegen.api import DemoResult


@click.command("demo", cls=Command, example="lamina demo -o build/digits")
@click.option("-o", "--out", default="lamina-demo", show_default=True, metavar="DIR", help="Folder of the C project.")
@json_option
@common
def command(out: str, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Take an example network (handwritten digits) from model to accuracy on this machine."""
    from codegen import api

    def told(step: str) -> None:
        if not (as_json or quiet):
            say(f"... {step}")

    with Progress("demo", quiet=quiet):
        result = api.demo(out, told=told)
    show(_text, result, as_json=as_json, quiet=quiet)


def _text(r: DemoResult) -> str:
    code = "" if r.code_bytes is None else f" and about {size_text(r.code_bytes)} of code"
    equal = "is equal to the numpy model, bit for bit" if r.equal else "DIFFERS from the numpy model"
    return "\n".join(
        [
            "",
            f"{r.model}, a float network that reads handwritten digits, is now C99 in {r.project}/:",
            f"  quantized to 8 bits, it differs from the float network by noise {r.sqnr:.1f} dB below its outputs",
            f"  it needs {size_text(r.arena_bytes)} of RAM, {size_text(r.weights_bytes)} of weights{code}",
            f"  one image takes {r.macs} MACs; called from Python it runs {r.images_per_s:.0f} images a second here",
            f"  its self-test says: {r.selftest}",
            f"  the C {equal} ({r.tensors_checked} tensors, {r.samples} images)",
            f"  it read {r.right} of {r.count} images rightly that training never saw: {r.value:.2%}",
            "",
            f"Look at {r.project}/README.md and include/digits.h, or go on with a model of yours:",
            "  lamina inspect MODEL.onnx -t cortex-m4",
            "  lamina quantize FLOAT.onnx --calib SAMPLES.npz -o MODEL.onnx",
            "  lamina compile MODEL.onnx -t cortex-m4 -o build/net",
        ]
    )
