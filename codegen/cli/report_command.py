"""lamina report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from codegen.cli.console import Command, common, json_option, say, show
from codegen.cli.options import config_option, model_options, scheduler_option
from codegen.cli.progress import Progress
from codegen.report.columns import Size, score_text
from codegen.report.table import text_table

if TYPE_CHECKING:
    from codegen.api import Grade, Report, Step


@click.command(
    "report",
    cls=Command,
    example="lamina report examples/digits/digits_qdq.onnx -t cortex-m4,cortex-m55 -o build/digits.html",
)
@click.option("-o", "--out", metavar="FILE.html", help="The page; it opens without a network.")
@click.option("--serve", is_flag=True, help="Show it in a browser, and again whenever its files change, until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65535), help="With --serve: of 127.0.0.1; a free one when left out.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="With --serve: open one.")
@click.option("--chips/--no-chips", default=True, show_default=True, help="Rank all chips by whether it fits.")
@click.option("--also", "others", multiple=True, metavar="MODEL", help="Another network, on the same chips beside it.")
@click.option("--measure", is_flag=True, help="Count instructions where a target has an emulated board.")
@click.option(
    "--float-model",
    metavar="MODEL",
    help="Compare with the float model, on the samples of --data; with --eval it is scored too.",
)
@click.option("--data", metavar="X.npz", help="Samples that both run on; labels in it are for --eval.")
@click.option("--samples", type=int, metavar="N", help="Of --data, at most so many are compared; 32 when left out.")
@click.option("--sensitivity", is_flag=True, help="With --data: what each tensor would gain with more bits.")
@click.option("--eval", "eval_data", metavar="DATA", help="Labelled samples: score the network, and the float one.")
@click.option("--metric", default="top1", show_default=True, help="Of --eval: as of `lamina eval`.")
@click.option("--engine", default="c", show_default=True, help="Of --eval: golden, c, float, litert or tflm.")
@click.option("--limit", type=int, metavar="N", help="Of --eval: the first N samples only.")
@click.option("--against", metavar="OLD.json", help="What `lamina report --json` printed before: show what changed.")
@model_options
@config_option
@scheduler_option
@json_option
@common
def command(model: str, target: str, as_json: bool, quiet: bool, verbose: bool, **options: Any) -> int:
    """Write everything that is known of MODEL on targets (-t A,B) as one page: what fits, layers, memory, rules."""
    from codegen import api

    out, serving = options.pop("out"), {name: options.pop(name) for name in ("serve", "port", "browser")}
    _check(out, serving, as_json)
    targets = [name.strip() for name in target.split(",")]
    if serving["serve"]:
        server = {"port": serving["port"] or 0, "browser": serving["browser"], "ready": _ready}
        api.serve_report(model, targets, **server, **options)
        return 0
    with Progress("looking", quiet=quiet):
        result = api.write_report(model, out, targets, **options)
    show(_text, result, as_json=as_json, quiet=quiet)
    if not (as_json or quiet):
        say(f"report -> {out}")
    return 0


_STEPS = 8
"""That the terminal is told."""


def _check(out: str | None, serving: dict[str, Any], as_json: bool) -> None:
    """A page is either written or served."""
    if serving["serve"] == (out is not None):
        raise click.UsageError("give either -o FILE.html or --serve")
    if serving["serve"] and as_json:
        raise click.UsageError("--json goes with -o: what is served has no end")
    if not serving["serve"] and serving["port"] is not None:
        raise click.UsageError("--port goes with --serve")


def _ready(address: str) -> None:
    say(f"report at {address} (Ctrl-C ends it)")


def _text(result: Report) -> str:
    headers = ["target", "runs", "arena", "weights", "MACs", "reasons"]
    rows = [
        (
            r.target,
            "yes" if r.supported else "no",
            Size(r.arena_bytes) if r.arena_bytes is not None else None,
            Size(r.weights_bytes) if r.weights_bytes is not None else None,
            r.macs,
            len(r.violations) or None,
        )
        for r in result.targets
    ]
    lines = [text_table(headers, rows)]
    if result.chips:
        lines.append(f"fits {sum(c.fits for c in result.chips)} of {len(result.chips)} chips")
    if result.grade:
        lines.append(_graded(result.grade))
    lines += [f"note: {note}" for note in result.notes]
    return "\n".join([*lines, "", "what to do next:", *_steps(result.steps)])


def _graded(grade: Grade) -> str:
    """The score, and how far it is from the float network's."""
    said = f"{grade.metric} {score_text(grade.score, grade.unit)} of {grade.samples} samples"
    if grade.float_score is None or grade.lost is None:
        return said
    return f"{said}; float {score_text(grade.float_score, grade.unit)}, {grade.lost:.2f} points lost"


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    """Each step, its reason and its command below it."""
    for number, step in enumerate(steps[:_STEPS], 1):
        target = f"{step.target}: " if step.target else ""
        yield f"{number:2}. {target}{step.what}: {step.why}"
        if step.command:
            yield f"    {step.command}"
    if len(steps) > _STEPS:
        yield f"    ({len(steps) - _STEPS} more on the page)"
