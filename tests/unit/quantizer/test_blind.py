"""What stands in for samples: what BatchNormalization knows, and made-up inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.api import quantize
from codegen.errors import CompileError
from codegen.frontends import real_bytes
from codegen.ir.real import RealGraph
from codegen.quantizer.bias import expected_error, with_biases
from codegen.quantizer.blind import beliefs, made_up
from codegen.quantizer.calibrate import scheme_of, watched
from codegen.quantizer.live import stacked, tensors_held
from codegen.quantizer.moments import Moments
from codegen.quantizer.observe import observe
from codegen.quantizer.places import Places
from codegen.quantizer.products import products
from codegen.quantizer.rewrite.fold import fold_affine
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.sequential import Choices, SideBySide
from codegen.quantizer.spec import Spec
from codegen.real.elementwise import Clip, Function
from codegen.real.engine import RealEngine
from codegen.real.normal import BatchNorm
from codegen.real.storage import Dequantize
from tests.support.float_networks import Maker, random_network
from tests.support.quantizing import Plain

SPEC = Spec(bits=4, symmetric=True, per_channel=True, narrow_range=True)


def trained(offset: float = 0.7, size: float = 3.0, norm: bool = True) -> tuple[RealGraph, list[dict[str, np.ndarray]]]:
    """Two convolutions, normalized as by training on inputs of such a mean and size; and those inputs."""
    maker, rng = Maker(3, (1, 3, 8, 8), uneven=1.0), np.random.default_rng(5)
    samples = [{"x": (offset + size * rng.normal(0, 1, (1, 3, 8, 8))).astype(np.float32)} for _ in range(40)]
    for op in (Function("Relu"), Clip(0.0, 6.0)):
        maker.conv(6, pad=0, bias=False)
        inner = maker.last
        if norm:
            seen = np.concatenate([dict(RealEngine(maker.done()).tensors(s))[inner] for s in samples])
            known = [rng.uniform(0.5, 2, 6), rng.normal(0, 1, 6), seen.mean(axis=(0, 2, 3)), seen.var(axis=(0, 2, 3))]
            maker.add(BatchNorm(), *(maker.constant(k) for k in known), x=inner)
        maker.add(op)
    return maker.done(), samples


def test_what_batch_normalization_says_is_what_its_results_are() -> None:
    graph, samples = trained()
    known = beliefs(graph)
    tensors = [dict(RealEngine(graph).tensors(s)) for s in samples]
    assert len(known) == 4
    for name, belief in known.items():
        every = np.concatenate([t[name] for t in tensors])
        assert belief.low <= every.min()
        assert belief.high >= every.max()
        assert belief.mean.shape == every[:1].shape
        away = belief.mean[0, :, 0, 0] - every.mean(axis=(0, 2, 3))
        assert np.abs(away).max() < 0.12 * every.std()
    assert known[graph.nodes[5].outputs[0]].high == 6.0
    assert known[graph.nodes[2].outputs[0]].low == 0.0


@pytest.mark.parametrize(("offset", "size"), [(0.0, 1.0), (120.0, 60.0), (-0.4, 0.02)])
def test_made_up_inputs_have_the_mean_and_size_that_training_knew(offset: float, size: float) -> None:
    graph, samples = trained(offset, size)
    made, is_known = made_up(graph, 64)
    assert is_known
    assert made["x"].shape == (64, 1, 3, 8, 8)
    real = np.stack([s["x"] for s in samples])
    assert abs(made["x"].mean() - real.mean()) < 0.4 * real.std()
    assert 0.6 < made["x"].std() / real.std() < 1.6


def test_without_batch_normalization_inputs_are_normal_and_the_same_for_a_seed() -> None:
    graph, _ = trained(norm=False)
    made, is_known = made_up(graph, 32, seed=1)
    assert not is_known
    assert beliefs(graph) == {}
    assert abs(made["x"].std() - 1) < 0.05
    np.testing.assert_array_equal(made["x"], made_up(graph, 32, seed=1)[0]["x"])
    assert not np.array_equal(made["x"], made_up(graph, 32, seed=2)[0]["x"])


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", [0, 3])
def test_an_analytic_bias_takes_up_what_weights_make_of_the_mean(seed: int, known: bool) -> None:
    graph, biases = with_biases(fold_affine(random_network(seed)).graph)
    rng = np.random.default_rng(seed)
    samples = [{n: rng.normal(0, 1, graph.type(n).shape).astype(np.float32) for n in graph.inputs} for _ in range(8)]
    places = Places(graph)
    seen = watched(places, Plain())
    observe(graph, samples, RealEngine, seen)
    scheme = Scheme(scheme_of(places, seen, Plain()).tensors)
    feeds = stacked(graph, samples, range(8))
    first = next(p for p in products(graph) if p.reads in graph.inputs and p.node.label in biases)
    means = {first.reads: rng.normal(0, 1, graph.type(first.reads).shape).astype(np.float32)} if known else {}
    choices = Choices(effort="nearest", analytic=True, means=means)
    decided = SideBySide(graph, biases, scheme, lambda p: SPEC, choices).run(lambda part: feeds, {0: range(8)})
    weight = decided.weights[first.node.label, first.place]
    moments = Moments(first)
    held = tensors_held(graph, scheme, feeds, [first.reads])[first.reads].mean(axis=0)
    moments.take([means.get(first.reads, held)])
    real = graph.values[first.node.inputs[first.place]].data
    assert real is not None
    expected = expected_error(moments, real, Dequantize(weight.stored).evaluate([weight.data])[0])
    name = biases[first.node.label]
    before = graph.values[name].data
    assert before is not None
    np.testing.assert_allclose(decided.biases[name] - before, expected, atol=1e-4)


def test_a_network_is_quantized_without_samples_and_says_so(tmp_path: Path) -> None:
    graph, samples = trained()
    path = tmp_path / "float.onnx"
    path.write_bytes(real_bytes(graph))
    made = quantize(path, recipe="fast")
    (note,) = [n for n in made.report.notes if "no samples" in n]
    assert "2 of 3 ranges are what BatchNormalization says" in note
    assert "the first BatchNormalization knew" in note
    engine = RealEngine(fold_affine(graph).graph)
    wanted = np.stack([next(iter(engine.run(s).values())) for s in samples])
    held = made.table
    assert max(s for s, _, _ in held.values()) < 10 * wanted.max() / 255
    given = quantize(path, [dict(s) for s in samples], recipe="fast")
    for name, (scale, _, _) in given.table.items():
        assert 0.3 < held[name][0] / scale < 4


def test_outputs_that_are_lost_are_told(tmp_path: Path) -> None:
    graph, samples = trained()
    path, config = tmp_path / "float.onnx", tmp_path / "c.toml"
    path.write_bytes(real_bytes(graph))
    config.write_text("[quantize.activation]\nrange = [0.0, 1e-3]\n")
    lost, good = (quantize(path, samples, config=c, recipe="fast").report for c in (config, None))
    assert lost.sqnr is not None
    assert lost.sqnr < 1
    assert [any("nothing of the float network's" in n for n in r.notes) for r in (lost, good)] == [True, False]


def test_inputs_of_integers_cannot_be_made_up(tmp_path: Path) -> None:
    from codegen.real.movement import Gather

    maker = Maker(0)
    at = maker.net.input("at", (1, 4), np.int64).name
    maker.add(Gather(0), at, x=maker.constant(np.random.default_rng(0).normal(0, 1, (8, 5))))
    graph = replace(maker.done(), inputs=("at",))
    path = tmp_path / "float.onnx"
    path.write_bytes(real_bytes(graph))
    with pytest.raises(CompileError, match="LAM-IMPORT-030"):
        quantize(path)
