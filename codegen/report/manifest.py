"""manifest.json: what a project is, in keys that scripts may rely on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codegen.ir.graph import Graph
from codegen.ir.plan import Plan, place_of
from codegen.ir.program import KeptState, Port, Program
from codegen.prove import ShadowReport, bank_conflicts
from codegen.report.layers import layer_records
from codegen.report.local import local_record
from codegen.report.plan import plan_record
from codegen.report.table import plain
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
    planning: Mapping[str, object],
    shadow: ShadowReport,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The manifest's dictionary, in its order of keys; the same for the same input.

    `planning` has what the scheduler was asked for.  `shadow` knows the rows that are made of each tensor; rows that
    nobody needs are not.  `stack_bytes` is null: only a compiler knows it, and the files do not depend on one; see
    `manifest_with_stack`.
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
        "lmem_bytes": plan.local.bytes if plan.local else None,
        "lmem_align": plan.local.align if plan.local else None,
        "cores": plan.local.cores if plan.local else 1,
        "stages": plan.local.stages if plan.local else 1,
        "input_bytes": sum(p.operand.rows * p.operand.row_bytes for p in program.inputs),
        "output_bytes": sum(p.operand.rows * p.operand.row_bytes for p in program.outputs),
        "state_bytes": sum(s.bytes for s in program.states),
        "scratch_bytes": max(plan.scratch_bytes.values(), default=0),
        "weights_bytes": program.params_bytes if weights == "blob" else program.packed_bytes,
        "padding_bytes": sum(r.elements * r.dtype.bytes for r in program.const_rows),
        "weights_file": "weights.bin" if weights == "blob" else None,
        "weights_structure": None,
        "weights_id": None,
        "macs": total_macs(graph),
        "recomputed_macs": plan.local.recomputed_macs if plan.local else 0,
        "groups": len(plan.groups),
        "stack_bytes": None,
        "stack_flags": None,
        "streamed": bool(plan.streamed),
        "local": local_record(plan.local, bank_conflicts(program.local)) if plan.local and program.local else None,
        "planning": dict(planning),
        "inputs": [_port(plan, p) for p in program.inputs],
        "outputs": [_port(plan, p) for p in program.outputs],
        "states": [_state(plan, s) for s in program.states],
        "layers": [record.as_dict() for record in layer_records(plan, program)],
        "memory_map": _memory_map(plan),
        "plan": plain(plan_record(plan, program, shadow)),
        "tensors": [
            {
                "index": t.index,
                "name": t.value,
                "source": t.source,
                "perm": t.perm,
                "shape": t.shape,
                "dtype": t.dtype.value,
                "row_bytes": t.row_bytes,
                "rows_made": shadow.rows[t.value],
            }
            for t in program.tensors
        ],
        "notes": list(notes),
    }


def total_macs(graph: Graph) -> int:
    """Multiply-accumulates of one inference."""
    views = [graph.view(node) for node in graph.nodes]
    return sum(v.op.macs(v.ins, v.outs) for v in views)


def _port(plan: Plan, port: Port) -> dict[str, Any]:
    return {
        "name": port.name,
        "tensor": port.operand.value,
        "shape": port.shape,
        "dtype": port.dtype.value,
        "scale": port.scale,
        "zero_point": port.zero_point,
        "bytes": port.operand.rows * port.operand.row_bytes,
        **_place(plan, port.operand.offset),
        "model_shape": port.model_shape,
        "model_dtype": port.model_dtype,
        "perm": port.perm,
        "constant": port.constant,
    }


def _state(plan: Plan, state: KeptState) -> dict[str, Any]:
    """`tensor` is read, `becomes` replaces it when a run ends, over it when that is `in_place`."""
    return {
        "name": state.name,
        "tensor": state.operand.value,
        "becomes": state.renewed.value,
        "in_place": state.in_place,
        "shape": state.shape,
        "dtype": state.operand.dtype.value,
        "bytes": state.bytes,
        **_place(plan, state.operand.offset),
    }


def _place(plan: Plan, offset: int) -> dict[str, Any]:
    memory, at = place_of(plan.regions, offset)
    return {"memory": memory, "offset": at}


def _memory_map(plan: Plan) -> list[dict[str, Any]]:
    """Every tensor's place, in order of address."""
    places = [
        (s.offset, {"tensor": name, **_place(plan, s.offset), "bytes": s.bytes, "rows": s.rows, "ring": s.ring})
        for name, s in plan.storage.items()
        if s.memory == "arena"
    ]
    for i, offset in plan.scratch.items():
        name = f"scratch of {plan.graph.nodes[i].name}"
        places.append((offset, {"tensor": name, **_place(plan, offset), "bytes": plan.scratch_bytes[i]}))
    return [record for _, record in sorted(places, key=lambda p: (p[0], str(p[1]["tensor"])))]
