"""manifest.json: what a project is, in keys that scripts may rely on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.program import Port, Program
from codegen.report.layers import layer_records
from codegen.target import Target


def build_manifest(
    plan: Plan,
    program: Program,
    target: Target,
    *,
    version: str,
    model_hash: str,
    requant: str,
    weights: str,
    rows: Mapping[str, int],
) -> dict[str, Any]:
    """The manifest's dictionary, in its order of keys; the same for the same input.

    `rows` has the rows that are made of each tensor; rows that nobody needs are not.
    """
    graph = plan.graph
    return {
        "tool": "lamina",
        "version": version,
        "name": program.name,
        "model": graph.name,
        "model_sha256": model_hash,
        "target": target.name,
        "isa": target.isa,
        "byte_order": target.byte_order,
        "requant": requant,
        "arena_bytes": plan.arena_bytes,
        "arena_align": plan.arena_align,
        "arena_lower_bound_bytes": plan.lower_bound_bytes,
        "input_bytes": sum(p.operand.rows * p.operand.row_bytes for p in program.inputs),
        "output_bytes": sum(p.operand.rows * p.operand.row_bytes for p in program.outputs),
        "scratch_bytes": max(plan.scratch_bytes.values(), default=0),
        "weights_bytes": program.params_bytes,
        "padding_bytes": sum(r.elements * r.dtype.bytes for r in program.const_rows),
        "weights_file": "weights.bin" if weights == "blob" else None,
        "macs": total_macs(graph),
        "recomputed_macs": 0,
        "groups": len(plan.groups),
        "streamed": bool(plan.streamed),
        "front": [asdict(point) for point in plan.front],
        "inputs": [_port(p) for p in program.inputs],
        "outputs": [_port(p) for p in program.outputs],
        "layers": [record.as_dict() for record in layer_records(plan, program)],
        "memory_map": _memory_map(plan),
        "tensors": [
            {
                "index": t.index,
                "name": t.value,
                "source": t.source,
                "perm": t.perm,
                "shape": t.shape,
                "dtype": t.dtype.value,
                "row_bytes": t.row_bytes,
                "rows_made": rows[t.value],
            }
            for t in program.tensors
        ],
        "notes": list(graph.notes),
    }


def total_macs(graph: Graph) -> int:
    """Multiply-accumulates of one inference."""
    views = [graph.view(node) for node in graph.nodes]
    return sum(v.op.macs(v.ins, v.outs) for v in views)


def _port(port: Port) -> dict[str, Any]:
    return {
        "name": port.name,
        "tensor": port.operand.value,
        "shape": port.shape,
        "dtype": port.dtype.value,
        "scale": port.scale,
        "zero_point": port.zero_point,
        "bytes": port.operand.rows * port.operand.row_bytes,
        "offset": port.operand.offset,
        "model_shape": port.model_shape,
        "model_dtype": port.model_dtype,
        "perm": port.perm,
    }


def _memory_map(plan: Plan) -> list[dict[str, Any]]:
    """Every tensor's place, in order of address."""
    places = [
        {"tensor": name, "offset": s.offset, "bytes": s.bytes, "rows": s.rows, "ring": s.ring}
        for name, s in plan.storage.items()
    ]
    scratch = [
        {"tensor": f"scratch of {plan.graph.nodes[i].name}", "offset": o, "bytes": plan.scratch_bytes[i]}
        for i, o in plan.scratch.items()
    ]
    return sorted([*places, *scratch], key=lambda p: (p["offset"], str(p["tensor"])))
