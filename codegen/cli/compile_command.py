"""lamina compile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import config_option, model_options, preprocess_option, stack_option
from codegen.cli.progress import Progress
from codegen.datafiles import read_labels
from codegen.options import PACKAGES
from codegen.report.columns import Size, size_text
from codegen.report.manifest import said_arithmetic
from codegen.report.table import bound_text, plain, shape_text, text_pairs, text_table


def _labels(ctx: click.Context, param: click.Parameter, path: str | None) -> tuple[str, ...]:
    """The lines of the file; LAM-EMIT-007 for one that cannot be read."""
    return read_labels(Path(path)) if path is not None else ()


def _packages(ctx: click.Context, param: click.Parameter, names: str | None) -> tuple[str, ...]:
    """Names joined by commas; Options refuses those that are none."""
    return () if names is None else tuple(name.strip() for name in names.split(","))


@click.command(
    "compile", cls=Command, example="lamina compile examples/digits/digits_qdq.onnx -t cortex-m4 -o build/digits"
)
@click.option(
    "-o",
    "--out",
    required=True,
    metavar="DIR",
    help="Folder of the project; replaces an earlier one, keeps what is yours.",
)
@click.option("--force", is_flag=True, help="Replace files of the earlier project that were edited, too.")
@click.option("--calib", metavar="DATA", help="Of a float model: samples that it is quantized by first.")
@config_option
@preprocess_option
@click.option("--labels", metavar="FILE", callback=_labels, help="What an output's numbers mean, one label a line.")
@click.option(
    "--model-version", default="", metavar="TEXT", help="The model's version, for NAME_info and the manifest."
)
@click.option("--package", metavar="NAMES", callback=_packages, help=f"Also for {', '.join(PACKAGES)}; or all.")
@click.option("--weights-only", is_flag=True, help="Write the blob of the weights alone; -o is its file.")
@click.option("--fits", metavar="DIR", help="With --weights-only: the project whose code has to take the blob.")
@click.option("--name", help="The network's name, prefix of every C identifier; the file's name.")
@model_options
@stack_option
@json_option
@common
def command(model: str, target: str, out: str, as_json: bool, quiet: bool, verbose: bool, **options: Any) -> None:
    """Compile MODEL (quantized ONNX or TFLite) to a C99 project for a target."""
    from codegen import api

    if options["fits"] is not None and not options["weights_only"]:
        raise click.UsageError("--fits goes with --weights-only")
    with Progress("compiling", quiet=quiet):
        project = api.compile_model(model, target, out, **options)
    record = dict(project.manifest) | {"path": out, "code_estimate_bytes": project.code_estimate_bytes}
    if project.quantized is not None:
        record["quantized"] = plain(project.quantized)
    show(_details if verbose else _summary, record, as_json=as_json, quiet=quiet)


def _beside(memory: Mapping[str, Any]) -> tuple[str, str]:
    """Memory beside the arena: the input's, where that is the caller's, or more of the network's own."""
    if memory["given"]:
        return "", f"and the input, {size_text(memory['bytes'])}, where the caller has it"
    return f"in {memory['memory']}", f"{size_text(memory['bytes'])} more working memory"


def _summary(m: Mapping[str, Any]) -> str:
    bound = bound_text(m["arena_bytes"], m["arena_lower_bound_bytes"])
    pairs = [
        ("arena", f"{size_text(m['arena_bytes'])} working memory, of which scratch {size_text(m['scratch_bytes'])}"),
        ("", bound),
        *(_beside(r) for r in m["plan"]["memories"][1:]),
        ("input", ", ".join(_port(p) for p in m["inputs"])),
        ("output", ", ".join(_port(p) for p in m["outputs"])),
        ("weights", size_text(m["weights_bytes"])),
        ("code", f"about {size_text(m['code_estimate_bytes'])} with -Os, by rule of thumb; -O2 and -O3 take more"),
        ("MACs", f"{m['macs']} per inference, {m['recomputed_macs']} recomputed"),
        ("layers", f"{len(m['layers'])} in {_groups(m)}"),
    ]
    if m["stack_bytes"] is not None:
        worst = max(m["plan"]["groups"], key=lambda g: (g["stack_bytes"], -g["index"]))
        pairs.insert(2, ("stack", f"{size_text(m['stack_bytes'])}, most in {worst['title']} ({m['stack_flags']})"))
    if m.get("quantized"):
        made = m["quantized"]
        sqnr = "" if made["sqnr"] is None else f"; SQNR of the outputs {made['sqnr']:.1f} dB"
        pairs.append(("quantized", f"by {made['samples']} samples{sqnr}"))
    if m["states"]:
        kept = ", ".join(_port(s) for s in m["states"])
        pairs.append(("state", f"{kept}; kept from run to run ({m['name']}_reset forgets it)"))
    if m["streamed"]:
        pairs.append(("streamed", f"{m['plan']['streamed']} is pushed row by row ({m['name']}_push_row)"))
    if m.get("preprocess"):
        pairs.append(("camera", _camera(m["preprocess"])))
    if m.get("postprocess"):
        pairs.append(("found", _found(m["postprocess"])))
    if m["weights_id"]:
        pairs.append(("weights id", f"{m['weights_id']}, structure {m['weights_structure']}"))
    header = f"{m['name']} -> {m['path']}  (target {m['target']}, {said_arithmetic(m)})"
    return "\n".join([header, text_pairs(pairs), *(f"  note: {n}" for n in m["notes"])])


def _camera(p: Mapping[str, Any]) -> str:
    """What the preprocessing takes, and of what."""
    frame = f"{p['format']} {p['height']}x{p['width']}, lines of {size_text(p['line_bytes'])}"
    return f"{frame}; state {size_text(p['state_bytes'])}"


def _found(p: Mapping[str, Any]) -> str:
    """What the postprocessing gives."""
    return f"by {p['decode']}, {p['most']} at most; state {size_text(p['state_bytes'])}"


def _details(m: Mapping[str, Any]) -> str:
    return f"{_summary(m)}\n\n{_layers(m)}"


def _groups(m: Mapping[str, Any]) -> str:
    """How many groups, and the largest one."""
    largest = max(m["plan"]["groups"], key=lambda g: (len(g["nodes"]), -g["index"]), default=None)
    said = f"{m['groups']} group{'s' if m['groups'] != 1 else ''}"
    if largest is None or len(largest["nodes"]) == 1:
        return said
    return f"{said}; {len(largest['nodes'])} stream by rows in the largest: {largest['title']}"


def _port(port: Mapping[str, Any]) -> str:
    return f"{port['name']} {port['dtype']} {shape_text(port['shape'])}, {size_text(port['bytes'])}"


def _layers(m: Mapping[str, Any]) -> str:
    rows = [
        (r["name"], r["operator"], r["kernel"], shape_text(r["shape"]), r["macs"], Size(r["weights_bytes"]), r["rows"])
        for r in m["layers"]
    ]
    return text_table(
        ["layer", "operator", "kernel", "output", "MACs", "weights", "rows"], rows, keep=3, least=("rows",)
    )
