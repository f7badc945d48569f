"""Targets with a scratchpad of any size, and networks compiled for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.scratchpad import Engine
from codegen.kernels import kernel_needs, params_needs, select_kernels
from codegen.passes import simplify
from codegen.pipeline import Compiled, Options, compile_graph, finish, read_model
from codegen.schedule.scratchpad import schedule_scratchpad
from codegen.target import Target, find_chip, load_target
from tests.support.graphs import Sketch

GLOBAL_BYTES = 1 << 23


def scratchpad(scratchpad_bytes: int, cores: int = 1, banks: int = 1) -> Target:
    """The GAP8-like target with so many bytes of scratchpad and plenty of global memory, all cores together."""
    target = load_target("gap8-like")
    assert target.dma is not None
    sizes = {"scratchpad": scratchpad_bytes, "ram": GLOBAL_BYTES}
    parts = {"scratchpad": banks}
    memories = (replace(m, bytes=sizes.get(m.kind, m.bytes), banks=parts.get(m.kind, 1)) for m in target.memories)
    return replace(target, memories=tuple(memories), dma=replace(target.dma, cores=cores))


def target_file(folder: Path, scratchpad_bytes: int, cores: int = 1) -> str:
    """The same as a file."""
    text = find_chip("gap8-like").read_text(encoding="utf-8")
    text = text.replace("bytes = 65536", f"bytes = {scratchpad_bytes}").replace(
        "bytes = 524288", f"bytes = {GLOBAL_BYTES}"
    )
    text = text.replace("macs_per_cycle = ", f"cores = {cores}\nmacs_per_cycle = ")
    path = folder / f"scratchpad-{scratchpad_bytes}-{cores}.toml"
    path.write_text(text.replace('"gap8-like"', f'"scratchpad-{scratchpad_bytes}-{cores}"'), encoding="utf-8")
    return str(path)


def compile_scratchpad(
    model: Path | Graph, scratchpad_bytes: int, weights: str = "c", cores: int = 1, banks: int = 1
) -> Compiled:
    """A model file or a graph, compiled for so much scratchpad, all cores together, and for just so many cores."""
    options = Options(target="gap8-like", weights=weights)
    target = scratchpad(scratchpad_bytes, cores, banks)
    imported = model if isinstance(model, Graph) else read_model(model, options, target)
    if cores == 1:
        return compile_graph(imported, target, options)
    graph = simplify(imported)
    kernels = select_kernels(graph, target.isa)
    return finish(imported, plan_on_cores(graph, kernels, target), kernels, target, options)


def plan_on_cores(graph: Graph, kernels: Mapping[int, Form], target: Target) -> Plan:
    """The plan that uses all cores, also where fewer would be faster."""
    dma = target.dma
    assert dma is not None
    return schedule_scratchpad(
        graph,
        kernel_needs(graph, kernels, tiled=True),
        params_needs(graph, kernels),
        Engine(dma.bytes_per_cycle, dma.latency_cycles, dma.macs_per_cycle),
        scratchpad_bytes=target.scratchpad_bytes // dma.cores,
        arena_align=target.arena_align,
        cores=dma.cores,
    )


def branches() -> Graph:
    """Strides, a skip connection, a depthwise layer, pooling and a dense layer."""
    sketch = Sketch("branches", seed=5)
    x = sketch.conv(sketch.input((1, 16, 12, 3)), 8, stride=2)
    y = sketch.conv(sketch.conv(x, 16, 1), 16, groups=16)
    y = sketch.conv(y, 24, 3, stride=2)
    return sketch.graph(sketch.conv(y, 40, 1), sketch.conv(x, 8))
