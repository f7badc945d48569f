"""lamina run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import config_option, model_options
from codegen.cli.progress import Progress
from codegen.datafiles import check_outputs
from codegen.report.table import shape_text, text_table

if TYPE_CHECKING:
    from codegen.ir.quant import Array


@click.command(
    "run",
    cls=Command,
    example="lamina run examples/digits/digits_qdq.onnx --engine c --input examples/digits/digits_test.npz -o y.npz",
)
@click.option("--engine", default="golden", show_default=True, help="golden, c, float, litert or tflm.")
@click.option("--input", "data", required=True, metavar="X.npz", help="x, or arrays by the names of the inputs.")
@click.option("-o", "--out", required=True, metavar="Y.npz", help="Where the outputs go, by the model's names.")
@click.option("--dump-all", is_flag=True, help="Write every tensor inside the network too.")
@click.option("--limit", type=int, metavar="N", help="The first N samples only.")
@model_options
@config_option
@json_option
@common
def command(model: str, data: str, out: str, as_json: bool, quiet: bool, verbose: bool, **options: Any) -> None:
    """Run MODEL on one engine, every sample of X.npz; data in the model's own layout and type."""
    from codegen import api

    notes: list[str] = []
    found: list[Mapping[str, Array]] = []
    read = (model, data, options["config"])
    check_outputs([Path(out)], [Path(path) for path in read if path is not None])
    with Progress("running", quiet=quiet) as progress:
        outputs = api.run_file(model, data, progress=progress, said=notes.append, found=found.append, **options)
        api.save_arrays(out, {**outputs, **_joined(found)})
    show(_details if verbose else _text, _record(out, outputs, notes, found), as_json=as_json, quiet=quiet)


def _joined(found: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """What was found in all samples as arrays, and in which of them."""
    if not found:
        return {}
    import numpy as np  # loaded by now, and not when the command is only asked for help

    counts = [len(next(iter(one.values()))) for one in found]
    joined = {f"{_FOUND}{name}": np.concatenate([one[name] for one in found]) for name in found[0]}
    return {f"{_FOUND}sample": np.repeat(np.arange(len(found), dtype=np.int32), counts), **joined}


_FOUND, _SHOWN = "postprocess.", 20
"""What their names begin with in the file, and how many are printed unasked."""


def _record(
    out: str, outputs: Mapping[str, Array], notes: Sequence[str], found: Sequence[Mapping[str, Array]]
) -> dict[str, Any]:
    tensors = [{"name": n, "shape": y.shape, "dtype": str(y.dtype)} for n, y in outputs.items()]
    record: dict[str, Any] = {"path": out, "tensors": tensors, "notes": notes}
    if found:
        record["found"] = [{name: array.tolist() for name, array in one.items()} for one in found]
    return record


def _text(record: Mapping[str, Any]) -> str:
    return _lines(record, _SHOWN)


def _details(record: Mapping[str, Any]) -> str:
    return _lines(record, None)


def _lines(record: Mapping[str, Any], most: int | None) -> str:
    rows = [(t["name"], t["dtype"], shape_text(t["shape"])) for t in record["tensors"]]
    lines = [text_table(["tensor", "type", "shape"], rows), f"written to {record['path']}"]
    if "found" in record:
        lines.insert(1, _found_text(record["found"], most))
    return "\n".join([*lines, *(f"note: {note}" for note in record["notes"])])


def _found_text(found: Sequence[Mapping[str, Any]], most: int | None) -> str:
    """What was found, a line each, at most so many."""
    names = tuple(found[0])
    rows = [
        (str(sample), *(_numbers(one[name][i]) for name in names))
        for sample, one in enumerate(found)
        for i in range(len(one[names[0]]))
    ]
    shown = rows if most is None else rows[:most]
    lines = [f"found: {len(rows)} in {len(found)} samples"]
    if shown:
        lines.append(text_table(["sample", *names], shown))
    if len(shown) < len(rows):
        lines.append(f"and {len(rows) - len(shown)} more (-v shows all)")
    return "\n".join(lines)


def _numbers(value: Any) -> str:
    """One number, or several."""
    if isinstance(value, list):
        return " ".join(f"{number:.1f}" for number in value)
    return f"{value:.4f}" if isinstance(value, float) else str(value)
