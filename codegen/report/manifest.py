"""manifest.json: what a project is, in keys that scripts may rely on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codegen.ir.graph import Graph
from codegen.ir.hooks import hook_records
from codegen.ir.plan import Plan, place_of
from codegen.ir.program import KeptState, Port, Program, TracedTensor
from codegen.ir.quant import Mode
from codegen.ops.float32 import SUMMING
from codegen.options import Goal, Options
from codegen.prove import ShadowReport, bank_conflicts
from codegen.records import record
from codegen.report.layers import layer_records
from codegen.report.plan import plan_record
from codegen.report.scratchpad import scratchpad_record
from codegen.report.table import plain
from codegen.resources import VERSION
from codegen.target import Target


@record(kw_only=True)
class Asked:
    """What the project was made for: the options, and what they came to where they left it open."""

    target: Target
    options: Options
    requant: Mode
    goal: Goal
    model_hash: bytes = b""
    notes: Sequence[str] = ()


def build_manifest(plan: Plan, program: Program, shadow: ShadowReport, asked: Asked) -> dict[str, Any]:
    """The manifest's dictionary, in its order of keys; the same for the same input.

    `shadow` knows the rows that are made of each tensor; rows that nobody needs are not.
    """
    return {
        **_identity(plan, program, asked),
        **_memory(plan),
        **_sizes(plan, program, asked.options.weights == "blob"),
        **_work(plan, program),
        "planning": {"goal": asked.goal, "arena_limit": asked.options.arena_limit},
        "inputs": [_port(plan, p) for p in program.inputs],
        "outputs": [_port(plan, p) for p in program.outputs],
        "states": [_state(plan, s) for s in program.states],
        "layers": [record.as_dict() for record in layer_records(plan, program)],
        "memory_map": _memory_map(plan),
        "plan": plain(plan_record(plan, program, shadow)),
        "tensors": [_tensor(t, shadow) for t in program.tensors],
        "notes": list(asked.notes),
        **({"hooks": hooks} if (hooks := hook_records(program)) else {}),
    }


def _identity(plan: Plan, program: Program, asked: Asked) -> dict[str, Any]:
    """What the project is of, and for which chip."""
    return {
        "tool": "lamina",
        "version": VERSION,
        "name": program.name,
        "model": plan.graph.name,
        "model_sha256": asked.model_hash.hex(),
        "model_version": asked.options.model_version,
        "target": asked.target.name,
        "isa": asked.target.isa,
        "byte_order": asked.target.byte_order,
        "requant": asked.requant,
        **_float_sums(plan),
        **_float_weights(plan),
        **({"arithmetic": "float32"} if plan.graph.is_real else {}),
    }


def _float_sums(plan: Plan) -> dict[str, str]:
    """How products are added, where it is not the way that is meant without a word."""
    found = (node.op.sums for node in plan.graph.nodes if isinstance(node.op, SUMMING))
    other = next((sums for sums in found if sums != "separate"), None)
    return {"float_sums": other} if other else {}


def said_arithmetic(manifest: Mapping[str, Any]) -> str:
    """How a project's numbers are rounded, for a person."""
    return str(manifest.get("arithmetic") or f"requant {manifest['requant']}")


def _float_weights(plan: Plan) -> dict[str, Any]:
    """What weights of float layers are stored as, where that is something else."""
    kinds = {(t.storage, t.block) for t in (value.type for value in plan.graph.values.values()) if t.storage}
    found = [storage + (f"g{block}" if block else "") for storage, block in sorted(kinds)]
    return {"float_weights": found[-1]} if found else {}


def _memory(plan: Plan) -> dict[str, Any]:
    """The arena, and the scratchpad of a chip that has one."""
    scratchpad = plan.scratchpad
    return {
        "arena_bytes": plan.arena_bytes,
        "arena_align": plan.arena_align,
        "arena_lower_bound_bytes": plan.lower_bound_bytes,
        "scratchpad_bytes": scratchpad.bytes if scratchpad else None,
        "scratchpad_align": scratchpad.align if scratchpad else None,
        "cores": scratchpad.cores if scratchpad else 1,
        "stages": scratchpad.stages if scratchpad else 1,
    }


def _sizes(plan: Plan, program: Program, blob: bool) -> dict[str, Any]:
    """Bytes of data and of weights; what a blob's identity is, is filled in when it is packed."""
    return {
        "input_bytes": sum(p.operand.rows * p.operand.row_bytes for p in program.inputs),
        "output_bytes": sum(p.operand.rows * p.operand.row_bytes for p in program.outputs),
        "state_bytes": sum(s.bytes for s in program.states),
        "scratch_bytes": max(plan.scratch_bytes.values(), default=0),
        "weights_bytes": program.params_bytes if blob else program.packed_bytes,
        "padding_bytes": sum(r.elements * r.dtype.bytes for r in program.const_rows),
        "weights_file": "weights.bin" if blob else None,
        "weights_buffer_bytes": program.weights.bytes if program.weights else None,
        "weights_pinned_bytes": sum(r.bytes for r in program.weights.pinned) if program.weights else None,
        "weights_mapped_bytes": program.mapped_bytes if program.weights else None,
        "weights_reads": len(program.weights.reads) if program.weights else None,
        "weights_structure": None,
        "weights_id": None,
    }


def _work(plan: Plan, program: Program) -> dict[str, Any]:
    """What a run computes, and how.

    `stack_bytes` is null: only a compiler knows it, and the files do not depend on one; see `manifest_with_stack`.
    """
    scratchpad = plan.scratchpad
    return {
        "macs": total_macs(plan.graph) - plan.recomputed_macs,
        "recomputed_macs": scratchpad.recomputed_macs if scratchpad else plan.recomputed_macs,
        "groups": len(plan.groups),
        "stack_bytes": None,
        "stack_flags": None,
        "streamed": bool(plan.streamed),
        "scratchpad": scratchpad_record(scratchpad, bank_conflicts(program.scratchpad))
        if scratchpad and program.scratchpad
        else None,
    }


def _tensor(tensor: TracedTensor, shadow: ShadowReport) -> dict[str, Any]:
    return {
        "index": tensor.index,
        "name": tensor.value,
        "source": tensor.source,
        "perm": tensor.perm,
        "shape": tensor.shape,
        "dtype": tensor.dtype.value,
        "row_bytes": tensor.row_bytes,
        "rows_made": shadow.rows[tensor.value],
    }


def total_macs(graph: Graph) -> int:
    """Multiply-accumulates of one inference."""
    return sum(graph.view(node).macs for node in graph.nodes)


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
