"""Sums of squares, lengths and products of quantized tensors: beside ONNX Runtime and float64, and C without floats."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import codegen
from codegen.build import Net
from codegen.frontends.onnx import import_onnx
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, Mode
from codegen.laws import sources_of
from codegen.pipeline import Options, compile_file
from codegen.process import check_program, run_program
from tests.support.outsider import ort_session
from tests.support.sanitizers import REPORTS
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

NEAR = 2.0**-10
"""Beyond half a step: units of a total are finer, and factors have 31 bits."""
Exact = Callable[[Array], Array]
"""What float64 makes of a tensor."""


@dataclass(frozen=True)
class Totalled:
    """One operator on a tensor: what it is, and what float64 says."""

    op: str
    shape: tuple[int, ...]
    exact: Exact
    known: tuple[Array, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def sample(self, seed: int = 3) -> Array:
        """Numbers of both signs; of sizes around 1 where they are multiplied."""
        rng = np.random.default_rng(seed)
        numbers = rng.normal(0, 0.3, self.shape)
        return (np.sign(numbers) * np.exp(numbers) if self.op == "ReduceProd" else numbers).astype(np.float32)


@dataclass(frozen=True)
class Steps:
    """A network, what it was given, and results in steps of the output above its zero point."""

    graph: Graph
    feeds: Mapping[str, Array]
    golden: Array
    runtime: Array
    exact: Array


def reduced(kind: str, shape: tuple[int, ...], axes: tuple[int, ...], keep: int = 0) -> Totalled:
    """A reduction."""
    made: Mapping[str, Exact] = {
        "L1": lambda x: np.abs(x).sum(axes),
        "L2": lambda x: np.sqrt(np.square(x).sum(axes)),
        "Prod": lambda x: x.prod(axes),
        "SumSquare": lambda x: np.square(x).sum(axes),
    }
    return Totalled(f"Reduce{kind}", shape, made[kind], (np.array(axes, np.int64),), {"keepdims": keep})


def pooled(shape: tuple[int, ...], size: list[int], p: int = 2, **attributes: Any) -> Totalled:
    """LpPool."""
    axes = len(size)
    stride = attributes.get("strides", [1] * axes)
    pads, step = attributes.get("pads", [0] * 2 * axes), attributes.get("dilations", [1] * axes)

    def exact(x: Array) -> Array:
        wide = np.pad(np.abs(x) ** p, [(0, 0), (0, 0), *zip(pads[:axes], pads[axes:], strict=True)])
        reach = [(s - 1) * d + 1 for s, d in zip(size, step, strict=True)]
        views = np.lib.stride_tricks.sliding_window_view(wide, reach, tuple(range(2, 2 + axes)))
        cut = (slice(None),) * 2 + tuple(slice(None, None, n) for n in (*stride, *step))
        return np.asarray(views[cut].sum(tuple(range(-axes, 0))) ** (1 / p))

    return Totalled("LpPool", shape, exact, (), {"kernel_shape": size, "p": p, **attributes})


CASES: Mapping[str, Totalled] = {
    **{
        f"{kind} {axes}": reduced(kind, (1, 5, 6, 7), axes, keep)
        for kind in ("L2", "Prod", "SumSquare")
        for axes, keep in (((1,), 1), ((2,), 0), ((3,), 1), ((2, 3), 0), ((1, 3), 1))
    },
    **{f"{kind} of all": reduced(kind, (3, 4, 5), (0, 1, 2)) for kind in ("L1", "L2", "Prod", "SumSquare")},
    **{f"{kind} of many": reduced(kind, (1, 200, 3), (1,)) for kind in ("L2", "Prod", "SumSquare")},
    "L2 of images": reduced("L2", (2, 3, 4, 5), (2, 3)),
    "overlapping": pooled((1, 3, 9, 8), [3, 3], strides=[2, 2]),
    "padded": pooled((1, 3, 9, 8), [3, 2], pads=[1, 1, 1, 0], strides=[2, 1]),
    "dilated": pooled((1, 2, 9, 8), [2, 3], dilations=[2, 2]),
    "sizes": pooled((1, 3, 9, 8), [3, 3], 1, strides=[2, 1], pads=[1, 0, 0, 2]),
    "left over": pooled((1, 3, 7, 7), [2, 2], strides=[2, 2]),
    "side by side": pooled((1, 3, 6, 8), [3, 2], strides=[3, 2]),
    "whole": pooled((2, 3, 6, 8), [6, 8]),
    "along one axis": pooled((1, 3, 20), [5], strides=[2], pads=[2, 1]),
    "of images": pooled((2, 3, 7, 6), [3, 3], pads=[1, 1, 1, 1]),
    "three axes side by side": pooled((1, 2, 4, 6, 4), [2, 3, 2], strides=[2, 3, 2]),
}
TYPES = (np.int8, np.uint8, np.int16, np.uint16)


def written(case: Totalled, dtype: type, finer: float = 1.0) -> tuple[onnx.ModelProto, float, int]:
    """The QDQ file, and the output's scale and zero point; its steps are `finer` than its largest number needs."""
    ends, x = np.iinfo(dtype), case.sample()
    exact = case.exact(x.astype(np.float64))
    zero = 0 if ends.min else int(ends.max) // 2
    scales = [float(np.float32(np.abs(part).max() / (ends.max - zero))) for part in (x, exact)]
    zero_y = 0 if ends.min or (exact >= 0).all() else zero
    net = Net("totals")
    given = net.quantized(net.input("x", case.shape), scales[0], zero, dtype)
    made = getattr(net.onnx, case.op)(given, *case.known, **case.attributes)
    net.output(net.quantized(made, scales[1] / finer, zero_y, dtype), "y")
    return onnx.load_from_string(net.to_onnx()), float(np.float32(scales[1] / finer)), zero_y


def imported(model: onnx.ModelProto, folder: Path, mode: Mode = "single") -> Graph:
    """Integers at its ends."""
    onnx.save(model, folder / "model.onnx")
    return import_onnx(folder / "model.onnx", mode=mode, io_type="quantized", io_layout="model")


def is_whole(graph: Graph) -> bool:
    """Whether nothing is a real number."""
    return not any(value.type.dtype.is_float for value in graph.values.values())


def found(
    case: Totalled, dtype: type, folder: Path, finer: float = 1.0, mode: Mode = "single", *, is_known: bool = True
) -> Steps:
    """What golden, ONNX Runtime and float64 make of the sample; float64 twice where ONNX Runtime has no such form."""
    model, scale, zero = written(case, dtype, finer)
    graph = imported(model, folder, mode)
    feeds = network_feeds(graph_ports(graph)[0], {"x": case.sample()})
    made = run_graph(graph, feeds)[graph.outputs[0].value].astype(np.float64)
    quant = graph.type(graph.inputs[0].value).quant
    assert quant is not None
    x = (feeds[graph.inputs[0].value].astype(np.float64) - quant.zero_point) * quant.scale
    ends = np.iinfo(dtype)
    exact = np.clip(case.exact(x) / scale, ends.min - zero, ends.max - zero)
    runtime = exact
    if is_known:
        (wanted,) = ort_session(model).run(None, {"x": case.sample()})
        runtime, exact = wanted / np.float64(np.float32(scale)), exact.reshape(wanted.shape)
    shift = 1 << 15 if dtype is np.uint16 else 0  # by which the network holds unsigned words lower
    return Steps(graph, feeds, made.reshape(exact.shape) + shift - zero, runtime, exact)


@pytest.mark.parametrize("dtype", TYPES)
def test_each_is_within_a_step_of_onnxruntime_and_half_a_step_of_float64(dtype: type, tmp_path: Path) -> None:
    for name, case in CASES.items():
        steps = found(case, dtype, tmp_path)
        assert is_whole(steps.graph), name
        assert np.abs(steps.golden - steps.runtime).max() < 1.01, name
        assert np.abs(steps.golden - steps.exact).max() < 0.5 + NEAR, name


@pytest.mark.parametrize("mode", ["tflite", "ort"])
def test_other_modes_are_as_near(mode: Mode, tmp_path: Path) -> None:
    for name in ("L2 (2,)", "Prod (2,)", "SumSquare (2,)", "overlapping"):
        steps = found(CASES[name], np.int16, tmp_path, mode=mode)
        assert np.abs(steps.golden - steps.exact).max() < 0.5 + 2 * NEAR, name


@pytest.mark.parametrize("finer", [2.0**-9, 30.0, 1e4])
def test_results_far_from_the_range_of_their_integers_are_as_near(finer: float, tmp_path: Path) -> None:
    """Most of them come to few steps, or are held at the ends."""
    for name in ("L2 (2,)", "Prod (2,)", "SumSquare (2,)", "sizes", "overlapping"):
        steps = found(CASES[name], np.int16, tmp_path, finer)
        assert is_whole(steps.graph), name
        assert np.abs(steps.golden - steps.exact).max() < 0.5 + NEAR, name


def test_a_product_passes_where_float32_has_no_numbers(tmp_path: Path) -> None:
    """Its first factors come to 2^-200, which float32 does not hold, and the others make up for it."""
    small = np.repeat(np.float32([1 / 16, 16]), 50).reshape(1, 100)
    net = Net("long")
    x = net.quantized(net.input("x", (1, 100)), 1 / 16, dtype=np.int16)
    net.output(net.quantized(net.onnx.ReduceProd(x, np.array([1], np.int64)), 2.0**-14, dtype=np.int16), "y")
    model = onnx.load_from_string(net.to_onnx())
    graph = imported(model, tmp_path)
    made = run_graph(graph, network_feeds(graph_ports(graph)[0], {"x": small}))
    assert made[graph.outputs[0].value].item() == 1 << 14
    assert ort_session(model).run(None, {"x": small})[0].item() == 0


def test_windows_over_three_axes_that_overlap_stay_real_numbers(tmp_path: Path) -> None:
    assert not is_whole(imported(written(pooled((1, 2, 5, 5, 5), [2, 2, 2]), np.int16)[0], tmp_path))


def together(folder: Path) -> tuple[list[Graph], list[dict[str, Array]]]:
    """All cases in four types, each on its sample."""
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for i, case in enumerate(CASES.values()):
        graph = imported(written(case, TYPES[i % len(TYPES)])[0], folder)
        graphs.append(graph)
        feeds.append(network_feeds(graph_ports(graph)[0], {"x": case.sample()}))
    return graphs, feeds


def test_c_is_golden_and_has_no_floats(tmp_path: Path) -> None:
    """Also under both sanitizers, on vectors of its self-test."""
    require_tool("gcc")
    check_c_is_golden(*together(tmp_path), tmp_path / "c", ["-O1", *REPORTS.split()])
    project = tmp_path / "c" / "project"
    sources, folders = sources_of(project)
    text = "".join(Path(source).read_text() for source in sources)
    assert "lam_product_24" in text
    assert "lam_product_31" in text
    assert not re.search(r"\b(float|double)\b|lam_f32", text)
    words = ["-O1", "-fsanitize=address", *REPORTS.split(), *(f"-I{folder}" for folder in folders)]
    check_program(["gcc", *words, *sources, project / "test" / "main.c", "-o", tmp_path / "program"], timeout_s=300)
    done = run_program([tmp_path / "program"], timeout_s=60)
    assert done.returncode == 0, done.stderr.decode()


def test_overlapping_windows_are_made_row_by_row(tmp_path: Path) -> None:
    """In a group with the convolutions around them, whose rows lie in rings."""
    require_tool("gcc")
    rng = np.random.default_rng(4)
    net = Net("rows")
    x = net.quantized(net.input("x", (1, 4, 24, 20)), 1 / 64)
    for i in range(3):
        w = net.weights(rng.integers(-99, 99, (4, 4, 3, 3)).astype(np.int8), 2.0**-9)
        x = net.quantized(net.onnx.Conv(x, w, pads=[1] * 4), 1 / 64, dtype=np.int16 if i == 0 else np.int8)
        if i < 2:
            x = net.onnx.LpPool(x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4, p=2)
            x = net.quantized(net.quantized(x, 1 / 32, dtype=np.int16), 1 / 32)
    net.output(x, "y")
    path = tmp_path / "rows.onnx"
    path.write_bytes(net.to_onnx())
    plan = compile_file(path, Options(target="host", goal="memory")).plan
    group = max(plan.groups, key=lambda g: len(g.nodes))
    names = [type(plan.graph.nodes[i].op).__name__ for i in group.nodes]
    assert names[:3] == ["Conv2D", "TotalPool2D", "Rescale"], names
    assert plan.arena_bytes < 24 * 20 * 4 * 4, "no map of 32-bit numbers is held whole"
    assert codegen.verify(path, samples=2, goal="memory").equal
