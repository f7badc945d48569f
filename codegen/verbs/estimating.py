"""What is known of a profile before anything is built: the layers, and about what each takes by the chip's file."""

from __future__ import annotations

from dataclasses import replace

from codegen.pipeline import Compiled
from codegen.report.layers import layer_records
from codegen.report.profile import Profile, ProfiledLayer
from codegen.report.speed import Estimate, estimates


def estimated_profile(compiled: Compiled) -> Profile:
    """Nothing measured; no estimates where the chip's file says nothing, or of real numbers."""
    planning = compiled.manifest["planning"]
    assert isinstance(planning, dict)
    graph = compiled.plan.graph
    found = estimates(graph, compiled.kernels, compiled.target, compiled.plan)
    by_name = {} if found is None else {graph.nodes[i].name: one for i, one in found.items()}
    layers = tuple(
        _with(ProfiledLayer(r.name, r.operator, r.kernel, r.macs, 0, None, None, None), by_name.get(r.name))
        for r in layer_records(compiled.plan, compiled.program)
    )
    bare = Profile(
        model=compiled.program.name,
        target=compiled.target.name,
        requant=str(compiled.manifest["requant"]),
        goal=str(planning["goal"]),
        flags="",
        macs=sum(layer.macs for layer in layers),
        hook=0.0,
        layers=layers,
        weights_bytes=compiled.program.packed_bytes,
        arena_bytes=compiled.plan.arena_bytes,
        is_real=compiled.graph.is_real,
    )
    return bare if found is None else _summed(bare, sum(found.values(), Estimate(0, 0, 0)), compiled)


def _with(layer: ProfiledLayer, one: Estimate | None) -> ProfiledLayer:
    if one is None:
        return layer
    return replace(
        layer,
        estimated_instructions=round(one.instructions),
        estimated_cycles=round(one.all_cycles),
        estimated_waits=round(one.waits),
    )


def _summed(bare: Profile, whole: Estimate, compiled: Compiled) -> Profile:
    clock = compiled.target.clock
    return replace(
        bare,
        estimated_instructions=round(whole.instructions),
        estimated_cycles=round(whole.all_cycles),
        estimated_waits=round(whole.waits),
        estimated_milliseconds=None if clock is None else 1000 * whole.all_cycles / clock.hz,
    )
