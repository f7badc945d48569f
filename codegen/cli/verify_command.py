"""lamina verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import config_option, model_options, preprocess_option
from codegen.cli.progress import Progress
from codegen.configuration import config_table
from codegen.report.columns import all_columns
from codegen.report.table import shape_text, text_table

if TYPE_CHECKING:
    from codegen.api import FoundCheck, FramesCheck, LogCheck, ReferenceCheck, TensorCheck, VerifyResult


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
@click.option("--crc", "log", metavar="FILE", help="Compare what a board has said of its self-test (docs/board.md).")
@model_options
@config_option
@preprocess_option
@json_option
@common
def command(
    model: str,
    data: str | None,
    log: str | None,
    config: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> int:
    """Run the numpy model and the C of MODEL on the same inputs and compare every tensor, byte for byte.

    The C runs on this machine, or on the emulated board of the target when it has one, or it has run already on a board
    whose log --crc gives.
    """
    if log is not None:
        _check_alone(data, config)
        return _verify_log(model, log, as_json, quiet, {k: v for k, v in options.items() if k not in _OF_SAMPLES})
    from codegen import api

    _check_told(data, config)
    with Progress("verifying", quiet=quiet) as progress:
        count = options["samples"]
        inputs: Any = data
        if data is not None and config is not None:
            chosen = {key: options[key] for key in ("target", "requant", "shapes")}
            inputs = api.read_samples(model, data, config, count, **chosen)
        told: Any = {"config": config, "progress": lambda done: progress(done, count)}
        result = api.verify(model, inputs=inputs, **told, **options)
    show(_text, result, as_json=as_json, quiet=quiet and result.equal, record=_record(result))
    return 0 if result.equal else 1


def _check_told(data: str | None, config: str | None) -> None:
    """A usage error for a configuration that nothing is done with."""
    if config is not None and data is None and config_table(Path(config), "postprocess") is None:
        raise click.UsageError(
            "--config says how the samples of --input are prepared, and has no [postprocess] table; give --input too"
        )


_OF_SAMPLES = ("samples", "seed", "reference", "preprocess")


def _check_alone(data: str | None, config: str | None) -> None:
    """A usage error for options about samples, which a log has none of."""
    source = click.get_current_context().get_parameter_source
    said = [f"--{name}" for name in _OF_SAMPLES if source(name) is not ParameterSource.DEFAULT]
    said += [f"--{name}" for name, value in (("input", data), ("config", config)) if value is not None]
    if said:
        raise click.UsageError(f"--crc is about the self-test's own inputs; leave out {', '.join(said)}")


def _verify_log(model: str, log: str, as_json: bool, quiet: bool, options: dict[str, Any]) -> int:
    from codegen import api

    check = api.verify_log(model, log, **options)
    good = check.equal and check.self_test == 0
    show(_log_text, check, as_json=as_json, quiet=quiet and good)
    return 0 if good else 1


def _log_text(check: LogCheck) -> str:
    lines = []
    if check.wrong_weights:
        lines.append(f"weights in the board's memory are not those compiled: {', '.join(check.wrong_weights)}")
    if check.first_difference is not None:
        lines += [f"first difference: {check.first_difference.text()}", check.first_difference.meaning]
    if check.self_test != 0:
        lines.append(
            "the self-test did not end" if check.self_test is None else f"the self-test gave {check.self_test}"
        )
    counts = ((check.differing, "differ"), (check.missing, "missing"), (check.damaged, "damaged"))
    more = "".join(f", {count} {word}" for count, word in counts if count)
    if check.starts > 1:
        more += f"; of {check.starts} starts of the board the last whole one"
    said = "equal to the bit" if check.equal else "NOT equal"
    lines.append(
        f"{said}: {check.tensors_checked} checksums of {check.runs} runs{more}; target {check.target}, "
        f"{check.arithmetic}"
    )
    return "\n".join(lines)


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
        **({} if result.preprocess is None else {"preprocess": result.preprocess}),
        **({} if result.postprocess is None else {"postprocess": result.postprocess}),
    }


def _text(result: VerifyResult) -> str:
    rows = [
        ("equal" if c.equal else "DIFFERS", c.tensor, f"{c.dtype} {shape_text(c.shape)}", _in_the_model(c))
        for c in result.checks
    ]
    headers = ["C", "tensor", "type, shape", *(["in the model"] if all_columns() else [])]
    lines = [text_table(headers, [row[: len(headers)] for row in rows], keep=3), ""]
    if result.first_difference is not None:
        lines.append(f"first difference: {result.first_difference.text()}")
    own = result.first_difference is None
    said = "equal to the bit" if own else "NOT equal"
    lines.append(
        f"{said}: {result.tensors_checked} tensors, {result.samples} samples, target {result.target}, "
        f"{result.arithmetic}"
    )
    if result.preprocess is not None:
        lines.append(_frames_text(result.preprocess))
    if result.postprocess is not None:
        lines.append(_found_text(result.postprocess))
    if result.reference is not None:
        lines.append(_reference_text(result.reference))
    return "\n".join(lines)


def _in_the_model(check: TensorCheck) -> str:
    """The name that the model has for a tensor, where it is another one."""
    return "" if not check.source or check.source == check.tensor else check.source


def _place(check: FramesCheck | FoundCheck) -> str:
    return "this machine" if check.where == "host" else f"the board of {check.where}"


def _frames_text(check: FramesCheck) -> str:
    how = f"{check.format} through the preprocessing, on {_place(check)}"
    if check.first_difference is None:
        return f"equal to the bit: {check.frames} frames {how}"
    return f"NOT equal: frames {how}; first difference: {check.first_difference.text()}"


def _found_text(check: FoundCheck) -> str:
    how = f"found in {check.outputs} outputs by {check.decode}, on {_place(check)}"
    if check.first_difference is None:
        return f"equal to the bit: {check.found} {how}"
    return f"NOT equal: what was {how}; first difference: {check.first_difference.text()}"


def _reference_text(check: ReferenceCheck) -> str:
    if check.first_difference is None:
        return f"equal to {check.runtime}: {check.bytes} bytes of outputs, {check.samples} samples"
    differing = f"{check.differing} of {check.bytes} bytes of outputs"
    return f"NOT equal to {check.runtime}: {differing}; first difference: {check.first_difference.text()}"
