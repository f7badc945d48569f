"""What is asked of layers of real numbers: how they sum, and what their weights are stored as.

Decides: which operators that concerns, and what a user is told of them.  Where a storage is asked for, weights become
the next numbers that it holds, and these are the network's weights, for the golden model too; those that it cannot hold
stay float32.  Where none is asked for, weights that the file holds in few bits stay so, which loses nothing; those of
16 bits that an importer has computed with (a batch normalization folded into them) are float32.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.float32.weights import is_held, narrowed
from codegen.ir.graph import Graph, Node, Value
from codegen.ir.quant import Array, DType, Storage, Sums
from codegen.kernels import find_form
from codegen.kernels.float32.conv2d import is_pointwise
from codegen.kernels.float32.registers import flushes
from codegen.ops.answers import moves_only
from codegen.ops.float32 import SUMMING, FloatConv2D, FloatDense, FloatRecurrent
from codegen.options import Options
from codegen.planning.asked import choose_sums
from codegen.planning.sent import sent
from codegen.target import FEATURES, Target

_WEIGHTED = (FloatConv2D, FloatDense, FloatRecurrent)
_STORAGES: dict[str, tuple[Storage, int]] = {
    **{"f16": ("f16", 0), "bf16": ("bf16", 0), "s8": ("s8", 0), "s4": ("s4", 0)},
    **{"s8g32": ("s8", 32), "s4g32": ("s4", 32)},
}
"""What weights are stored as, and how many inputs of a dense layer have a scale; 0 for all."""
_BITS = {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "f16": 16, "bf16": 16}
_SCALE_BYTES = {"s8": 4, "u8": 6, "s4": 4, "u4": 5, "f16": 0, "bf16": 0}
"""What a scale takes, with its zero point; floats have none."""
_SLOW, _NO_FMA = "fused sums are computed in integers, many times as slow", "has no fused multiply-add (has_fma)"
_ONE_BY_ONE = "flushed sums are computed one by one, many times as slow, in"
_FLUSH = "convolutions and dense layers of real numbers take about a third of the instructions with --float flushed"
_IN_STEPS = "float16 weights, half the flash of --float-weights f32, take several instructions each to expand"
_CONVERTING = {"fpu", "x86"}
"""Features of chips whose kernels have an instruction from float16."""
_LEAST_IS_ZERO = "Helium's vectors, to which numbers below 2^-126 are zero"
_ENOUGH = 0.9
"""Of all products: what Helium's vectors must make of a network before they are spoken of."""
_LONGEST = 4
"""Layers whose names a note gives."""


def as_asked(graph: Graph, options: Options, target: Target) -> Graph:
    """The graph whose layers of real numbers, and weights that are sent apart, are what the options say."""
    graph = sent(graph, options)
    sums, asked = choose_sums(options, target), _STORAGES.get(options.float_weights)
    graph = whole = _summed(graph, sums)
    if asked is not None:
        graph = whole = _stored(graph, *asked)
    elif options.float_weights == "own" and graph.held:
        graph = _stored_as_held(graph, sums, target)
    notes = (*_said(graph, sums, options, target), *_sooner(whole, sums, options, target))
    return replace(graph, notes=(*graph.notes, *notes))


def _summed(graph: Graph, sums: Sums) -> Graph:
    nodes = [replace(n, op=replace(n.op, sums=sums)) if isinstance(n.op, SUMMING) else n for n in graph.nodes]
    return graph if sums == "separate" else replace(graph, nodes=tuple(nodes))


def _said(graph: Graph, sums: Sums, options: Options, target: Target) -> Iterator[str]:
    """What takes many times as long as asked on the chip, or more than with what is not asked."""
    summing = [node for node in graph.nodes if isinstance(node.op, SUMMING)]
    yield from (*_in_software(graph, target), *_not_finite(graph))
    if sums == "fused" and summing and not target.has_fma:
        yield f"{_SLOW}: {target.name} {_NO_FMA}"
    if sums == "flushed":
        slow = [node.name for node in summing if not _in_vectors(graph, node, target)]
        yield from [f"{_ONE_BY_ONE} {len(slow)} layers: {_listed(slow)}"] if slow else []
    if options.float_weights == "own":
        yield from _expanded_in_steps(graph, target)


def _sooner(graph: Graph, sums: Sums, options: Options, target: Target) -> Iterator[str]:
    """What would take less, where weights that vectors do not read stay float32."""
    summing = [node for node in graph.nodes if isinstance(node.op, SUMMING)]
    if sums == "separate" and options.float_sums is None and "mve" in FEATURES[target.isa] and summing:
        other = _summed(graph, "flushed")
        vectors = {n.name for n in other.nodes if isinstance(n.op, SUMMING) and _in_vectors(other, n, target)}
        macs = {node.name: graph.view(node).macs for node in summing}
        if sum(macs[name] for name in vectors) >= _ENOUGH * sum(macs.values()):
            yield f"{_FLUSH}: {_LEAST_IS_ZERO}"


def _expanded_in_steps(graph: Graph, target: Target) -> Iterator[str]:
    """Which weights an FPU that does not convert float16 could have sooner, in twice the flash."""
    short = [node.name for node, weights in _with_weights(graph) if weights.type.storage == "f16"]
    if short and target.has_fpu and not _CONVERTING & FEATURES[target.isa]:
        yield f"{_IN_STEPS} on {target.name}, {len(short)} layers: {_listed(short)}"


def _in_software(graph: Graph, target: Target) -> Iterator[str]:
    """Which layers a core without an FPU computes with real numbers."""
    real = [node for node in graph.nodes if _is_real(graph, node)]
    if not real or target.has_fpu or DType.F32.value not in target.dtypes:
        return
    products = sum(graph.view(node).macs for node in graph.nodes)
    share = 100 * sum(graph.view(node).macs for node in real) / max(products, 1)
    of_all = f" ({share:.3g} % of the products)" if products else ""
    names = _listed([node.name for node in real])
    yield f"{target.name} has no FPU: {len(real)} float layers{of_all} are computed in software: {names}"


def _is_real(graph: Graph, node: Node) -> bool:
    """Whether real numbers are computed, and not only moved."""
    kinds = {graph.values[name].type.dtype for name in (*node.inputs, *node.outputs)}
    return DType.F32 in kinds and not moves_only(node.op)


def _not_finite(graph: Graph) -> Iterator[str]:
    """Which layers have constants that make no number of any input: NaN, and infinite weights."""
    found = [node.name for node in graph.nodes if any(_is_spoilt(node, graph.values[name]) for name in node.inputs)]
    if found:
        yield f"weights of {len(found)} layers hold NaN or infinity, and so may what is made of them: {_listed(found)}"


def _is_spoilt(node: Node, value: Value) -> bool:
    if value.data is None or not value.type.dtype.is_float:
        return False
    return bool(np.isnan(value.data).any() or (isinstance(node.op, SUMMING) and np.isinf(value.data).any()))


def _in_vectors(graph: Graph, node: Node, target: Target) -> bool:
    form = find_form(graph.view(node), target.isa)
    return form is not None and flushes(form.context)


def _stored(graph: Graph, storage: Storage, block: int) -> Graph:
    """Weights of layers stored so; what else reads the same constant keeps it."""
    made = {}
    for node, weights in _with_weights(graph):
        made[node.name] = _narrow(weights, storage, block if _has_groups(node, weights, block) else 0)
    graph = _reading(graph, made)
    return replace(graph, notes=(*graph.notes, *_kept([name for name, value in made.items() if not value], storage)))


def _stored_as_held(graph: Graph, sums: Sums, target: Target) -> Graph:
    """Weights of layers stored as the file holds them, but for those that only a chip's vectors read fast.

    Of bytes with zero points those of x86 read none, and it has room for them as they are.
    """
    quick = sums == "flushed"
    layers = [(n, w) for n, w in _with_weights(graph) if not (quick and _in_vectors(graph, n, target))]
    held = [part for part in graph.held if part[0] != "u8" or "x86" not in FEATURES[target.isa]]
    return _reading(graph, {node.name: _as_held(node, weights, held) for node, weights in layers})


def _with_weights(graph: Graph) -> Iterator[tuple[Node, Value]]:
    """Layers of real numbers whose weights are constants."""
    for node in graph.nodes:
        if isinstance(node.op, _WEIGHTED) and graph.values[node.inputs[1]].is_const:
            yield node, graph.values[node.inputs[1]]


def _as_held(node: Node, weights: Value, held: Sequence[tuple[Storage, int]]) -> Value | None:
    """The weights in the least of the file's storages that holds them, where it is less than they are."""
    data = np.asarray(weights.data)
    inputs = data.shape[-1]
    for storage, block in held:
        # blocks that end within the last one are taken as several of a size that fits
        block = math.gcd(block, inputs) if 0 < block < inputs else 0
        scales = data.size // block if block else len(data)
        less = data.size * _BITS[storage] // 8 + _SCALE_BYTES[storage] * scales < 4 * data.size
        served = _is_served(node, storage) and (not block or _has_groups(node, weights, block))
        if less and served and is_held(data, storage, block):
            return _named(weights, data, storage, block)
    return None


def _is_served(node: Node, storage: Storage) -> bool:
    """Whether kernels of the layer read a storage: zero points of few bits are for dense layers and 1x1 windows."""
    if storage == "u8":
        return not isinstance(node.op, FloatRecurrent)
    return storage != "u4" or _is_dense(node)


def _has_groups(node: Node, weights: Value, block: int) -> bool:
    """Whether each so many inputs of a layer can have a scale: it is dense, and has several times as many."""
    inputs = weights.type.shape[-1]
    return block > 0 and _is_dense(node) and inputs > block and inputs % block == 0


def _is_dense(node: Node) -> bool:
    """Whether each output pixel is made of one input pixel."""
    return isinstance(node.op, FloatDense) or (isinstance(node.op, FloatConv2D) and is_pointwise(node.op))


def _narrow(weights: Value, storage: Storage, block: int) -> Value | None:
    data = narrowed(np.asarray(weights.data), storage, block)
    return None if data is None else _named(weights, data, storage, block)


def _named(weights: Value, data: Array, storage: Storage, block: int) -> Value:
    name = f"{weights.name}:{storage}" + (f"g{block}" if block else "")
    return replace(weights, name=name, type=replace(weights.type, storage=storage, block=block), data=data)


def _reading(graph: Graph, made: Mapping[str, Value | None]) -> Graph:
    """The graph whose layers read these weights in place of theirs."""
    if not any(made.values()):
        return graph
    nodes = []
    for node in graph.nodes:
        weights = made.get(node.name)
        nodes.append(node if weights is None else _with(node, weights, graph.values[node.inputs[1]]))
    return graph.with_nodes(nodes, {**graph.values, **{v.name: v for v in made.values() if v}})


def _with(node: Node, weights: Value, exact: Value) -> Node:
    groups = f" in groups of {weights.type.block}" if weights.type.block else ""
    loss = _loss(np.asarray(exact.data), np.asarray(weights.data))
    note = f"weights stored as {weights.type.storage}{groups}, {loss}"
    inputs = (node.inputs[0], weights.name, *node.inputs[2:])
    return replace(node, inputs=inputs, note="; ".join(filter(None, (node.note, note))))


def _loss(exact: Array, stored: Array) -> str:
    """How far the numbers stored are from those of the model."""
    wanted = exact.astype(np.float64)
    power, noise = float((wanted**2).sum()), float(((wanted - stored) ** 2).sum())
    return "the same numbers" if noise == 0 else f"{10 * np.log10(power / noise):.1f} dB"


def _kept(left: list[str], storage: Storage) -> tuple[str, ...]:
    """What a user is told of layers that the storage does not do for."""
    if not left:
        return ()
    return (
        f"weights of {len(left)} layers stay float32, for {storage} holds no numbers next to theirs: {_listed(left)}",
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_LONGEST]) + (", ..." if len(names) > _LONGEST else "")
