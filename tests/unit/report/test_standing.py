"""Layers beside the limits of their blocks: none is far above without a reason, and reasons are those of the choice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.ir.quant import DType
from codegen.kernels import choose_kernels
from codegen.ops import Conv2D
from codegen.options import Options
from codegen.passes import simplify
from codegen.pipeline import read_model
from codegen.planning import met
from codegen.report.otherwise import otherwise
from codegen.report.speed import estimates, layer_instructions
from codegen.report.standing import Standing, high_lines, standing, standings
from codegen.target import Target, load_target
from tests.support.graphs import Sketch
from tests.support.real_tflite import model_path

NETWORKS = ("resnet8_int8", "kws_int8", "vww_int8", "ad_int8", "mobilenet_v1_025_128_uint8", "mobilenet_v2_int8")
CORES = ("cortex-m4", "cortex-m7", "cortex-m55")


def chosen(name: str, core: str) -> tuple[Graph, Mapping[int, Form], Target]:
    """A network's layers and their kernels, before any plan."""
    path = model_path(name)
    target, options = met(Options(target=core), path)
    graph = simplify(read_model(path, options, target))
    return graph, choose_kernels(graph, target), target


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("name", NETWORKS)
def test_no_layer_is_far_above_its_limit_without_a_reason(name: str, core: str) -> None:
    graph, kernels, target = chosen(name, core)
    found = estimates(graph, kernels, target)
    assert found is not None
    taken = {i: said(graph.view(graph.nodes[i]), kernels[i], one.instructions) for i, one in found.items()}
    stand = standings(graph, kernels, taken, target)
    assert [graph.nodes[i].name for i, one in stand.items() if one.is_high and not one.reason] == []
    unlimited = sum(taken[i] for i, one in stand.items() if one.limit is None)
    assert unlimited < 0.03 * sum(taken.values()), "what has no limit is next to nothing of a network"
    assert all(one.times is None or one.times > 0.9 for one in stand.values()), "limits are limits"


def said(view: NodeView, form: Form, about: float) -> float:
    """What a layer takes by its kernel's count, which follows its sizes closely, or else by the core's rates."""
    return form.mix.instructions * math.prod(view.outs[0].shape[:-2]) if form.mix else about


def depthwise(width: int = 24, channels: int = 64) -> NodeView:
    s = Sketch()
    graph = s.graph(s.conv(s.input((1, 24, width, channels)), channels, groups=channels))
    return graph.view(graph.nodes[0])


def found_for(view: NodeView, core: str, times: float = 1.0) -> Standing:
    """A layer with the form that its own network has, which takes so many times what is estimated."""
    target = load_target(core)
    s = Sketch()
    names = [s.input(view.ins[0].shape, view.ins[0].dtype, view.ins[0].quant)]
    names += [s.const(array) for array in view.consts[1:] if array is not None]
    graph = s.graph(s.apply(view.op, *names))
    (form,) = choose_kernels(graph, target).values()
    own = graph.view(graph.nodes[0])
    taken = layer_instructions(own, form, target)
    assert taken is not None
    return standing(own, form, times * taken, target)


def test_what_nothing_explains_has_no_reason() -> None:
    """A kernel that took three times what it takes would be seen."""
    s = Sketch()
    graph = s.graph(s.conv(s.input((1, 24, 24, 256)), 64, 1))
    view = graph.view(graph.nodes[0])
    usual, slow = found_for(view, "cortex-m4"), found_for(view, "cortex-m4", 3.0)
    assert not usual.is_high
    assert slow.is_high
    assert slow.reason == ""
    assert "nothing that kernels are asked about explains it" in high_lines([("slow", slow)])[0]
    assert high_lines([("usual", usual), ("unknown", None)]) == []


def test_weights_with_a_zero_point_are_a_reason_where_kernels_refuse_them() -> None:
    """Helium multiplies depthwise windows by a shift of 8 bits, of which 128 is none."""
    plain = depthwise()
    weights = plain.consts[1]
    assert weights is not None
    shifted = (weights.astype(np.int16) + 128).astype(np.int16)
    kind = replace(plain.ins[1], dtype=DType.S16)
    view = replace(plain, ins=(plain.ins[0], kind, plain.ins[2]), consts=(None, shifted, plain.consts[2]))
    assert "weights" not in found_for(plain, "cortex-m55").reason
    refused = found_for(view, "cortex-m55")
    assert refused.is_high
    assert refused.reason.startswith("weights have a zero point: 0 to 255")


def test_short_sums_and_few_channels_are_reasons() -> None:
    s = Sketch()
    graph = s.graph(s.conv(s.input((1, 24, 24, 4)), 8, 1))
    found = found_for(graph.view(graph.nodes[0]), "cortex-m55")
    assert found.is_high
    assert "sums of 4 products" in found.reason
    assert "no more than 8 channels" in found.reason


def test_a_layer_is_asked_for_otherwise_in_one_thing_at_a_time() -> None:
    view = depthwise()
    assert isinstance(view.op, Conv2D)
    assert view.op.requant is not None
    bounded = replace(view, op=replace(view.op, requant=replace(view.op.requant, low=-100)))
    others = dict(otherwise(bounded))
    (words,) = (w for w in others if w.startswith("outputs end at -100 and 127"))
    whole = others[words].op
    assert isinstance(whole, Conv2D)
    assert replace(whole, requant=view.op.requant) == view.op
    assert not any(w.startswith("outputs end at") for w, _ in otherwise(view))
    for other in others.values():
        assert other.outs == other.op.infer(other.ins)


def test_rows_and_their_ends_are_asked_for_otherwise() -> None:
    others = dict(otherwise(depthwise(width=5)))
    longer = others["rows of 5 outputs"]
    assert longer.outs[0].shape[2] == 24
    bare = others["2 of 5 windows of a row reach over its ends"]
    assert isinstance(bare.op, Conv2D)
    assert bare.op.w.pad_before == bare.op.w.pad_after == 0
    assert bare.outs[0].shape == (1, 24, 5, 64)


def test_pixels_farther_apart_than_loads_reach_are_a_reason() -> None:
    """Blocks of the M4's depthwise kernel load 8 columns by offsets below 4,096."""
    assert not found_for(depthwise(), "cortex-m4").is_high
    far = depthwise(channels=960)
    assert dict(otherwise(far))["pixels that lie 960 bytes apart"].outs[0].shape == (1, 24, 24, 64)
    short = dict(otherwise(depthwise(7, 960)))["rows of 7 outputs that lie 960 bytes apart"]
    assert short.outs[0].shape == (1, 24, 24, 64)
    assert found_for(far, "cortex-m4", 1.4).reason == "pixels that lie 960 bytes apart"
