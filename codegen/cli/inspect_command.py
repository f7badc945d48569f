"""lamina inspect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from codegen.cli.console import Command, common, json_option, say, show
from codegen.cli.options import model_options, stack_option
from codegen.cli.progress import Progress
from codegen.report.columns import Size, all_columns, size_text
from codegen.report.plan_text import plan_text
from codegen.report.standing import high_lines
from codegen.report.table import Fixed, bound_text, readable, shape_text, share_text, text_pairs, text_table

if TYPE_CHECKING:
    from codegen.api import Inspection
    from codegen.report.standing import Standing
    from codegen.verbs.inspection import OperatorRow


@click.command("inspect", cls=Command, example="lamina inspect examples/digits/digits_qdq.onnx -t cortex-m4 --explain")
@click.option("--explain", is_flag=True, help="Say how each node of the model was read.")
@click.option("--kernels", "with_kernels", is_flag=True, help="Show the kernel of each layer, its form and why.")
@click.option("--plan", "with_plan", is_flag=True, help="Show the memory plan instead of the layers.")
@click.option("--plan-svg", metavar="FILE", help="Draw memory over time to a file, .svg or .png (needs matplotlib).")
@model_options
@stack_option
@json_option
@common
def command(
    model: str,
    target: str,
    explain: bool,
    with_kernels: bool,
    with_plan: bool,
    plan_svg: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> int:
    """Show which operators of MODEL a target runs, which rule each other one breaks, and what it all costs."""
    from codegen import api

    with Progress("inspecting", quiet=quiet):
        result = api.inspect(model, target, **options)
        if plan_svg is not None and result.plan is not None:
            api.draw_plan(result.plan, plan_svg, f"{result.model} on {result.target}")
    whole = _explained_text if explain or verbose else _text
    chosen = _plan_text if with_plan else _kernels_text if with_kernels else whole
    show(chosen, result, as_json=as_json, quiet=quiet)
    if quiet and not result.supported:
        say(_violations(readable(result)), err=True)
    return 0 if result.supported else 1


def _plan_text(result: Inspection) -> str:
    parts = [_totals(result)]
    if result.plan is not None:
        parts.append(plan_text(result.plan))
    return "\n\n".join([*parts, *_verdict(result)])


def _kernels_text(result: Inspection) -> str:
    rows = [
        (
            r.name,
            r.violation or r.kernel,
            r.macs,
            r.instructions,
            *_beside(r.standing),
            Size(r.trained_bytes),
            Size(r.weights_bytes),
            Size(r.added_bytes),
            Size(r.scratch_bytes),
            r.form,
        )
        for r in result.layers
    ]
    headers = ["layer", "kernel", "MACs", "about instr.", "each", "limit", "times"]
    headers += ["trained", "packed", "added", "scratch", "form, and why"]
    table = text_table(headers, rows, least=("trained", "added", "scratch", "form, and why", "packed", "about instr."))
    forms = [] if all_columns() else [_forms(result)]
    high = high_lines([(r.name, r.standing) for r in result.layers])
    return "\n\n".join([table, *high, *forms, *_packing(result), _totals(result), *_verdict(result)])


def _beside(standing: Standing | None) -> tuple[Fixed | None, ...]:
    """What a product takes, or an output where there are none, at least that, and how many times that."""
    if standing is None:
        return None, None, None
    return tuple(None if x is None else Fixed(x, 2) for x in (standing.each, standing.limit, standing.times))


def _forms(result: Inspection) -> str:
    """What each kernel does with its layer and why, which no column holds."""
    lines = [f"  {r.name}: {r.form}" for r in result.layers if r.form]
    return "\n".join(["form, and why:", *lines])


def _packing(result: Inspection) -> list[str]:
    if not result.weights_bytes:
        return []
    added = sum(r.added_bytes for r in result.layers)
    least = sum(r.weights_bytes for r in result.layers) - added
    rule = "2 % or 512 B are allowed, a quarter with --goal speed, and what a layer is worth by the time it saves"
    limit = "no limit: the target says weights.expand" if result.weights_expand else rule
    return [f"packing adds {added} B to the weights, {added / max(1, least):.1%} ({limit})"]


def _verdict(result: Inspection) -> list[str]:
    said = "runs" if result.supported else "does NOT run"
    problems = [_violations(result)] if result.violations else []
    ways = [_quantizing(result)] if result.quantizing else []
    return [*problems, f"{result.target} {said} {result.model}", *ways]


def _text(result: Inspection) -> str:
    return "\n\n".join([*_body(result), *_verdict(result)])


def _explained_text(result: Inspection) -> str:
    return "\n\n".join([*_body(result), _explain(result), *_verdict(result)])


def _body(result: Inspection) -> list[str]:
    parts = [_layers(result)] if result.layers else []
    parts += [_operators(result)] if result.operators else []
    parts.append(_totals(result))
    if result.peak is not None:
        live = [(name, size) for name, size in result.peak.live]
        parts.append(f"most memory is live at {result.peak.node}:\n{text_pairs([(n, size_text(b)) for n, b in live])}")
    if result.interface:
        parts.append(_interface(result))
    return parts


def _layers(result: Inspection) -> str:
    buffered, placed = (any(getattr(r, key) for r in result.layers) for key in ("weights_way", "place"))
    rows = [
        (
            r.name,
            r.operator,
            r.violation or r.kernel,
            " ".join(map(shape_text, r.in_shapes)),
            f"{r.dtype} {shape_text(r.shape)}",
            r.macs,
            r.parameters,
            Size(r.weights_bytes),
            Size(r.output_bytes),
            Size(r.scratch_bytes),
            r.rows,
            *((r.weights_way,) if buffered else ()),
            *((r.place,) if placed else ()),
        )
        for r in result.layers
    ]
    headers = ["layer", "operator", "kernel", "inputs", "output", "MACs", "params", "weights", "bytes out", "scratch"]
    least = ("rows", "scratch", "inputs", "bytes out", "params", "weights", "output")
    headers += ["rows", *(["weights are"] if buffered else []), *(["for the"] if placed else [])]
    return text_table(headers, rows, keep=3, least=least)


def _again(result: Inspection) -> str:
    again = result.plan.recomputed_macs if result.plan else 0
    return f", and {again} made again" if again else ""


def _totals(result: Inspection) -> str:
    pairs: list[tuple[str, object]] = [
        ("arithmetic", "float32") if result.is_real else ("requant", result.requant),
        ("MACs", f"{result.macs}{_again(result)}"),
        ("parameters", result.parameters),
    ]
    if result.bytes_at_8_bits is not None:
        arena = "" if result.arena_at_8_bits is None else f", arena {size_text(result.arena_at_8_bits)}"
        pairs.append(("at 8 bits", f"weights {size_text(result.bytes_at_8_bits)}{arena}"))
    if result.weights_bytes is not None:
        pairs.append(("weights", share_text(result.weights_bytes, result.flash_bytes)))
    if result.arena_bytes is not None:
        pairs.append(("arena", share_text(result.arena_bytes, result.ram_bytes)))
        pairs.append(("", bound_text(result.arena_bytes, result.arena_lower_bound_bytes or 0)))
    for memory in result.plan.memories[1:] if result.plan else ():
        pairs.append(("input outside" if memory.given else f"in {memory.memory}", size_text(memory.bytes)))
    if result.stack is not None:
        pairs.append(("stack", f"{size_text(result.stack.bytes)} ({result.stack.flags})"))
    notes = [f"  note: {n}" for n in result.notes]
    return "\n".join([f"{result.model} on {result.target}", text_pairs(pairs), *notes])


def _interface(result: Inspection) -> str:
    rows = [
        (
            p.direction,
            p.name,
            f"{p.model_dtype} {shape_text(p.model_shape)}",
            f"{p.dtype} {shape_text(p.shape)}",
            p.scale,
            p.zero_point,
            Size(p.bytes),
        )
        for p in result.interface
    ]
    lines = [text_table(["", "name", "model", "C interface", "scale", "zero point", "bytes"], rows, keep=4)]
    for cost in result.interface_costs:
        added = (
            f"arena {cost.added_arena_bytes:+} B, layers {cost.added_layers:+}" if not cost.problem else cost.problem
        )
        lines.append(f"with {cost.option}: {added}")
    return "\n".join(lines)


def _explain(result: Inspection) -> str:
    lines = ["how the model was read:"]
    for row in result.layers:
        stands = f" <- {', '.join(row.source)}" if row.source else ""
        note = f": {row.note}" if row.note else ""
        lines.append(f"  {row.name} ({row.operator}){stands}{note}")
    return "\n".join(lines)


def _operators(result: Inspection) -> str:
    """The model's own operators, and whether each is read."""
    said = "once quantized" if result.quantizing else "read"
    rows = [
        (r.operator, r.count, r.macs, r.parameters, "yes" if not r.refused else f"no: {_reason(r)}")
        for r in result.operators
    ]
    return text_table(["operator", "nodes", "MACs", "params", said], rows, keep=5)


def _reason(row: OperatorRow) -> str:
    ids = ", ".join(row.violations)
    return ids if row.refused == row.count else f"{row.refused} of {row.count}, {ids}"


def _quantizing(result: Inspection) -> str:
    """How a float model becomes one of integers."""
    assert result.quantizing is not None
    runs = "it runs as it is, and" if result.supported else "it"
    rows = [(i.name, i.dtype, shape_text(i.shape)) for i in result.quantizing.inputs]
    return "\n".join(
        [
            f"It is a float model: {runs} takes less of everything with 8 bits.",
            "To quantize it, give samples of each input, about 100, as training saw them (docs/quantize.md):",
            "",
            text_table(["input", "type", "shape"], rows),
            "",
            *(f"  {line}".rstrip() for line in result.quantizing.command),
        ]
    )


def _violations(result: Inspection) -> str:
    lines = []
    for v in result.violations:
        place = f"{v.where}: " if v.where else ""
        way_out = f" ({v.hint})" if v.hint else ""
        lines.append(f"{v.id} {place}{v.message}{way_out}")
    return "\n".join(lines)
