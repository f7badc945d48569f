"""Targets with local memory of any size, and networks compiled for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from codegen.ir.graph import Graph
from codegen.pipeline import Compiled, Options, compile_graph, read_model
from codegen.resources import resource_dir
from codegen.target import Target, load_target
from tests.graphs import Sketch

GLOBAL_BYTES = 1 << 23


def scratchpad(local_bytes: int, cores: int = 1) -> Target:
    """The GAP8-like target with so many bytes of local memory and plenty of global memory, all cores together."""
    target = load_target("gap8-like")
    assert target.dma is not None
    sizes = {"lmem": local_bytes, "ram": GLOBAL_BYTES}
    memories = tuple(replace(m, bytes=sizes.get(m.kind, m.bytes)) for m in target.memories)
    return replace(target, memories=memories, dma=replace(target.dma, cores=cores))


def target_file(folder: Path, local_bytes: int, cores: int = 1) -> str:
    """The same as a file."""
    text = (resource_dir("targets") / "gap8-like.toml").read_text(encoding="utf-8")
    text = text.replace("bytes = 65536", f"bytes = {local_bytes}").replace("bytes = 524288", f"bytes = {GLOBAL_BYTES}")
    text = text.replace("macs_per_cycle = ", f"cores = {cores}\nmacs_per_cycle = ")
    path = folder / f"local-{local_bytes}-{cores}.toml"
    path.write_text(text.replace('"gap8-like"', f'"local-{local_bytes}-{cores}"'), encoding="utf-8")
    return str(path)


def compile_local(model: Path | Graph, local_bytes: int, weights: str = "c", cores: int = 1) -> Compiled:
    """A model file or a graph, compiled for so much local memory, all cores together."""
    options = Options(target="gap8-like", weights=weights)
    if isinstance(model, Graph):
        return compile_graph(model, scratchpad(local_bytes, cores), options)
    target = scratchpad(local_bytes, cores)
    return compile_graph(read_model(model, options, target), target, options)


def branches() -> Graph:
    """Strides, a skip connection, a depthwise layer, pooling and a dense layer."""
    sketch = Sketch("branches", seed=5)
    x = sketch.conv(sketch.input((1, 16, 12, 3)), 8, stride=2)
    y = sketch.conv(sketch.conv(x, 16, 1), 16, groups=16)
    y = sketch.conv(y, 24, 3, stride=2)
    return sketch.graph(sketch.conv(y, 40, 1), sketch.conv(x, 8))
