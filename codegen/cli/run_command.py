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
    read = (model, data, options["config"])
    check_outputs([Path(out)], [Path(path) for path in read if path is not None])
    with Progress("running", quiet=quiet) as progress:
        outputs = api.run_file(model, data, progress=progress, said=notes.append, **options)
        api.save_arrays(out, outputs)
    show(_text, _record(out, outputs, notes), as_json=as_json, quiet=quiet)


def _record(out: str, outputs: Mapping[str, Array], notes: Sequence[str]) -> dict[str, Any]:
    tensors = [{"name": n, "shape": y.shape, "dtype": str(y.dtype)} for n, y in outputs.items()]
    return {"path": out, "tensors": tensors, "notes": notes}


def _text(record: Mapping[str, Any]) -> str:
    rows = [(t["name"], t["dtype"], shape_text(t["shape"])) for t in record["tensors"]]
    lines = [text_table(["tensor", "type", "shape"], rows), f"written to {record['path']}"]
    return "\n".join([*lines, *(f"note: {note}" for note in record["notes"])])
