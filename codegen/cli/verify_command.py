"""lamina verify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import config_option, model_options
from codegen.cli.progress import Progress
from codegen.report.table import shape_text

if TYPE_CHECKING:
    from codegen.api import ReferenceCheck, VerifyResult


@click.command(
    "verify",
    cls=Command,
    example="lamina verify examples/digits/digits_qdq.onnx --input examples/digits/digits_test.npz --samples 10",
)
@click.option("--input", "data", metavar="X.npz", help="Samples to run; random ones when left out.")
@click.option("--samples", type=int, default=3, show_default=True, help="How many at most.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random samples.")
@click.option(
    "--reference", type=click.Choice(["tflm", "litert"]), help="Compare a TFLite model's outputs with it too."
)
@model_options
@config_option
@json_option
@common
def command(
    model: str, data: str | None, config: str | None, as_json: bool, quiet: bool, verbose: bool, **options: Any
) -> int:
    """Run the numpy model and the C of MODEL on the same inputs and compare every tensor, byte for byte.

    The C runs on this machine, or on the emulated board of the target when it has one.
    """
    from codegen import api

    if config is not None and data is None:
        raise click.UsageError("--config says how the samples of --input are prepared; give --input too")
    with Progress("verifying", quiet=quiet) as progress:
        count = options["samples"]
        inputs: Any = data
        if data is not None and config is not None:
            chosen = {key: options[key] for key in ("target", "requant", "shapes")}
            inputs = api.read_samples(model, data, config, count, **chosen)
        result = api.verify(model, inputs=inputs, progress=lambda done: progress(done, count), **options)
    show(_text, result, as_json=as_json, quiet=quiet and result.equal, record=_record(result))
    return 0 if result.equal else 1


def _record(result: VerifyResult) -> dict[str, Any]:
    return {
        "equal": result.equal,
        "target": result.target,
        "requant": result.requant,
        "samples": result.samples,
        "tensors_checked": result.tensors_checked,
        "first_difference": result.first_difference,
        "tensors": result.checks,
        "reference": result.reference,
    }


def _text(result: VerifyResult) -> str:
    lines = [
        f"{'equal' if c.equal else 'DIFFERS':8}{c.tensor}  {c.dtype} {shape_text(c.shape)}"
        + (f"  ({c.source})" if c.source and c.source != c.tensor else "")
        for c in result.checks
    ]
    if result.first_difference is not None:
        lines.append(f"first difference: {result.first_difference.text()}")
    own = result.first_difference is None
    said = "equal to the bit" if own else "NOT equal"
    lines.append(
        f"{said}: {result.tensors_checked} tensors, {result.samples} samples, target {result.target}, "
        f"requant {result.requant}"
    )
    if result.reference is not None:
        lines.append(_reference_text(result.reference))
    return "\n".join(lines)


def _reference_text(check: ReferenceCheck) -> str:
    if check.first_difference is None:
        return f"equal to {check.runtime}: {check.bytes} bytes of outputs, {check.samples} samples"
    differing = f"{check.differing} of {check.bytes} bytes of outputs"
    return f"NOT equal to {check.runtime}: {differing}; first difference: {check.first_difference.text()}"
