"""A quantized network beside its float one: the figures against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.frontends import real_bytes
from codegen.frontends.onnx.real import read_real
from codegen.ir.real import RealGraph
from codegen.ir.shape import Window
from codegen.quantizer.applied import applied
from codegen.quantizer.rewrite.absorb import absorb, seen_floors
from codegen.quantizer.rewrite.equalise import equalise
from codegen.quantizer.rewrite.extremes import observe_extremes
from codegen.quantizer.rewrite.moved import MOVED_KEY, moved_entries, told_moved
from codegen.quantizer.versus import TensorError, versus
from codegen.real.elementwise import Function
from codegen.real.engine import RealEngine
from codegen.real.product import Gemm
from codegen.real.storage import Dequantize, Quantize
from codegen.real.window import Conv
from tests.support.float_networks import Maker
from tests.support.quantizing import Plain, plain_schemes


def network(seed: int = 0) -> RealGraph:
    maker = Maker(seed, (1, 3, 8, 8))
    for _ in range(3):
        maker.conv(6)
        maker.add(Function("Relu"))
    return maker.done()


def samples(count: int = 3) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    return [{"x": rng.normal(0, 1, (1, 3, 8, 8)).astype(np.float32)} for _ in range(count)]


def quantized(graph: RealGraph, seen_by: int = 3) -> RealGraph:
    _, (scheme,) = plain_schemes(graph, samples(seen_by), Plain())
    return applied(graph, scheme).live()


def by_name(rows: tuple[TensorError, ...]) -> dict[str, TensorError]:
    return {r.tensor: r for r in rows}


def test_what_accumulated_is_what_the_two_networks_differ_by() -> None:
    graph = network()
    made = quantized(graph)
    rows = by_name(versus(graph, made, samples(), RealEngine))
    ends = {
        n.inputs[0]: r.outputs[0] for n in made.nodes for r in made.readers(n.outputs[0]) if isinstance(n.op, Quantize)
    }
    assert list(rows) == list(ends)
    for tensor, end in ends.items():
        float_runs = [dict(RealEngine(graph).tensors(s))[tensor].astype(np.float64) for s in samples()]
        int_runs = [dict(RealEngine(made).tensors(s))[end].astype(np.float64) for s in samples()]
        noise = np.sum((np.array(float_runs) - np.array(int_runs)) ** 2)
        assert rows[tensor].sqnr == pytest.approx(10 * np.log10(np.sum(np.square(float_runs)) / noise))
        steps = np.sqrt(noise / np.size(float_runs)) / rows[tensor].scale
        assert rows[tensor].steps == pytest.approx(steps)


def test_a_layer_alone_adds_its_own_rounding_only() -> None:
    """Given the float network's numbers: the input is off by its own step at most, and later ones by little more."""
    graph = network()
    rows = versus(graph, quantized(graph), samples(), RealEngine)
    first = rows[0]
    assert first.tensor == "x"
    assert first.sqnr == pytest.approx(first.own_sqnr)
    assert first.own_most <= 0.5 + 1e-3
    assert 0.2 < first.own_steps < 0.3
    for row in rows[1:]:
        assert row.own_sqnr > row.sqnr
        assert row.own_most < 4


def test_what_lies_beyond_and_what_is_never_used_is_told() -> None:
    graph = network()
    made = quantized(graph, seen_by=1)
    wide = [{"x": s["x"] * 3} for s in samples()]
    rows = by_name(versus(graph, made, wide, RealEngine))
    stored = next(n.op.stored for n in made.nodes if isinstance(n.op, Quantize))
    low, high = ((q + half - int(stored.zero_point)) * float(stored.scale) for q, half in ((-128, -0.5), (127, 0.5)))
    x = np.array([s["x"] for s in wide])
    assert rows["x"].clipped == pytest.approx(np.mean((x < low) | (x > high)), abs=1e-6)
    assert rows["x"].clipped > 0.1
    used = np.unique(Quantize(stored).evaluate([x])[0]).size
    assert rows["x"].codes == used / 256


def test_channels_that_a_rewrite_scaled_are_compared_as_they_were() -> None:
    graph = network(2)
    rewritten = equalise(graph)
    assert rewritten.record.largest > 2
    rows = by_name(versus(graph, quantized(rewritten.graph), samples(), RealEngine))
    plain = by_name(versus(rewritten.graph, quantized(rewritten.graph), samples(), RealEngine))
    inner = [n for n, r in rows.items() if r.rescaled]
    assert len(inner) == 2
    assert not any(r.rescaled for r in plain.values())
    for name in rows:
        assert rows[name].sqnr > 15
        assert rows[name].own_steps == pytest.approx(plain[name].own_steps, rel=0.5)


@pytest.mark.parametrize("count", [1, 3])
def test_what_is_told_of_channels_is_taken_back_however_few_samples_there_are(count: int) -> None:
    graph, feeds = network(2), samples(count)
    rewritten = equalise(graph)
    made = quantized(rewritten.graph)
    told = told_moved(moved_entries(rewritten.record.moved, set(made.values)), shapes(made))
    rows = by_name(versus(graph, made, feeds, RealEngine, moved=told))
    plain = by_name(versus(rewritten.graph, made, feeds, RealEngine, moved={}))
    assert sum(r.rescaled for r in rows.values()) == 2
    for name, row in rows.items():
        assert row.sqnr > 15
        assert row.steps == pytest.approx(plain[name].steps, rel=1e-2)
        assert row.own_steps == pytest.approx(plain[name].own_steps, rel=1e-2)


def test_floors_that_were_absorbed_are_taken_back() -> None:
    maker = Maker(1, (1, 3, 8, 8))
    pointwise = Conv((Window(1), Window(1)), 1)
    for inputs in (3, 6):
        maker.add(pointwise, maker.normal(6, inputs, 1, 1), maker.constant(np.full(6, 9.0)))
        maker.add(Function("Relu"))
    graph = maker.done()
    seen = observe_extremes(graph, RealEngine, samples())
    absorbed = absorb(graph, seen_floors(seen))
    assert absorbed.record.pairs == 1
    first, second = (dict(RealEngine(g).tensors(samples()[0])) for g in (graph, absorbed.graph))
    for name, moved in absorbed.record.moved.items():
        np.testing.assert_allclose(moved.of(first[name]), second[name], atol=1e-4)
        np.testing.assert_allclose(moved.back(second[name]), first[name], atol=1e-4)
    made = quantized(absorbed.graph)
    rows = versus(graph, made, samples(), RealEngine, moved=absorbed.record.moved)
    assert any(r.rescaled for r in rows)
    assert all(r.sqnr > 30 for r in rows)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[",
        "[]",
        "[" * 100_000,
        '{"x": 3}',
        '{"x": [1, [1, 1, 1]]}',
        '{"x": [1.0, [1, 1, 1], [0, 0, 0]]}',
        '{"x": [4, [1, 1, 1], [0, 0, 0]]}',
        '{"x": [-3, [1, 1, 1], [0, 0, 0]]}',
        '{"x": [1, [1, 1], [0, 0]]}',
        '{"x": [1, [1, 0, 1], [0, 0, 0]]}',
        '{"x": [1, [1, NaN, 1], [0, 0, 0]]}',
        '{"x": [1, [1, 1, 1], [0, Infinity, 0]]}',
        '{"x": [1, [1, true, 1], [0, 0, 0]]}',
        '{"z": [1, [1, 1, 1], [0, 0, 0]]}',
    ],
)
def test_metadata_that_fits_no_tensor_is_passed_over(said: str) -> None:
    assert not told_moved({MOVED_KEY: said}, {"x": (1, 3, 8, 8)})


def shapes(graph: RealGraph) -> dict[str, tuple[int, ...]]:
    return {name: value.type.shape for name, value in graph.values.items()}


def test_factors_that_fit_a_few_numbers_by_chance_are_not_believed() -> None:
    """Each place of a vector seen once: a factor of its own explains any difference there, and means nothing."""
    maker = Maker(3, (1, 40), uneven=0.5)
    maker.add(Gemm(), maker.normal(40, 60), maker.normal(60))
    maker.add(Function("Sigmoid"))
    maker.add(Gemm(), maker.normal(60, 50), maker.normal(50))
    graph = maker.done()
    rng = np.random.default_rng(0)
    feeds = [{"x": rng.normal(0, 1, (1, 40)).astype(np.float32)}]
    _, (scheme,) = plain_schemes(graph, feeds, Plain())
    rows = versus(graph, applied(graph, scheme).live(), feeds, RealEngine)
    assert not any(r.rescaled for r in rows)
    assert all(r.sqnr < 100 for r in rows)
    assert all(r.own_steps < 1 for r in rows)


def test_it_is_the_same_for_the_file_read_back() -> None:
    graph = network()
    made = quantized(graph)
    done: list[tuple[int, int]] = []
    rows = versus(graph, made, samples(), RealEngine)
    again = versus(graph, _through_a_file(made), samples(), RealEngine, lambda *counts: done.append(counts))
    assert [r.tensor for r in again] == [r.tensor for r in rows]
    np.testing.assert_allclose([r.sqnr for r in again], [r.sqnr for r in rows], atol=0.2)
    assert done == [(i + 1, 6) for i in range(6)]
    assert any(isinstance(n.op, Dequantize) for n in made.nodes)


def _through_a_file(graph: RealGraph) -> RealGraph:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "q.onnx"
        path.write_bytes(real_bytes(graph))
        return read_real(path)
