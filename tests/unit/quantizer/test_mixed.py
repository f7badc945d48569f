"""Bits for each layer within what a compiler says: as good as trying everything, and never above a limit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.quantizer.knapsack import Options
from codegen.quantizer.mixed import Bits, Layer, Limits, Verdict, best_within, front_of, mixed_asking
from codegen.quantizer.sensitivity import Part
from tests.support.quantizing import Plain

NARROW, WIDE = Bits(8, 8), Bits(16, 8)


def layers_of(losses: list[tuple[float, float]], costs: list[tuple[int, int]]) -> list[Layer]:
    parts = [Part(f"layer{i}", "Conv", frozenset({f"t{i}"}), frozenset()) for i in range(len(losses))]
    options = [Options(np.array(loss), np.array(cost)[:, None]) for loss, cost in zip(losses, costs, strict=True)]
    return [Layer(p, (NARROW, WIDE), o) for p, o in zip(parts, options, strict=True)]


class Chip:
    """A compiler whose memory does not add up: the largest sum of two neighbours."""

    def __init__(self, sizes: list[int], most: int) -> None:
        self.sizes, self.most, self.asked = sizes, most, 0

    def __call__(self, bits: Mapping[str, Bits]) -> Verdict:
        self.asked += 1
        held = [s * b.activations // 8 for s, b in zip(self.sizes, bits.values(), strict=True)]
        sums = [a + b for a, b in pairwise(held)]
        at = int(np.argmax(sums))
        blamed = {n: held[i] // 2 for i, n in enumerate(bits) if i in (at, at + 1) and bits[n].activations == 16}
        over = {"arena": sums[at] - self.most} if sums[at] > self.most else {}
        return Verdict({"arena": sums[at]}, over, blamed if over else {})


CASES = st.lists(st.tuples(st.integers(1, 99), st.integers(1, 50)), min_size=2, max_size=7)


@settings(max_examples=200)
@given(CASES, st.integers(0, 100))
def test_what_is_found_fits_and_nothing_fits_besides(case: list[tuple[int, int]], share: int) -> None:
    sizes = [size for _, size in case]
    layers = layers_of([(float(loss), 0.0) for loss, _ in case], [(s, 2 * s) for s in sizes])
    least = max(a + b for a, b in pairwise(sizes))
    chip = Chip(sizes, least * (80 + 2 * share) // 100)
    found, verdict = best_within(layers, Limits({}, ("bytes",)), chip)
    if found is None:
        assert chip.most < least
        assert verdict.over["arena"] == least - chip.most
        return
    assert found.verdict.costs["arena"] <= chip.most
    assert chip(found.bits).fits
    assert found.loss == sum(loss for (loss, _), b in zip(case, found.bits.values(), strict=True) if b == NARROW)
    for name in (n for n, b in found.bits.items() if b == NARROW):
        assert not chip({**found.bits, name: WIDE}).fits


def test_it_is_near_what_trying_everything_gives() -> None:
    lost = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sizes, losses = rng.integers(1, 50, 8).tolist(), rng.random(8).tolist()
        layers = layers_of([(x, 0.0) for x in losses], [(s, 2 * s) for s in sizes])
        chip = Chip(sizes, int(1.4 * max(a + b for a, b in pairwise(sizes))))
        found, _ = best_within(layers, Limits({}, ("bytes",)), chip)
        assert found is not None
        names = [layer.part.name for layer in layers]
        every = (dict(zip(names, bits, strict=True)) for bits in product((NARROW, WIDE), repeat=8))
        best = min(
            sum(x for x, b in zip(losses, bits.values(), strict=True) if b == NARROW)
            for bits in every
            if chip(bits).fits
        )
        lost.append(found.loss - best)
    assert min(lost) >= -1e-12
    assert np.mean(lost) < 0.1
    assert np.median(lost) < 1e-9


def test_a_limit_on_what_adds_up_is_kept_beforehand() -> None:
    layers = layers_of([(5.0, 0.0), (3.0, 0.0), (1.0, 0.0)], [(10, 20), (10, 20), (10, 20)])
    asked: list[Mapping[str, Bits]] = []

    def ask(bits: Mapping[str, Bits]) -> Verdict:
        asked.append(dict(bits))
        true = 10 * sum(b.activations // 8 for b in bits.values())
        return Verdict({"bytes": true}, {"bytes": true - 50} if true > 50 else {})

    found, _ = best_within(layers, Limits({"bytes": 50}, ("bytes",)), ask)
    assert found is not None
    assert list(asked[0].values()) == [WIDE, WIDE, NARROW]
    assert found.bits == asked[0]
    assert found.loss == 1.0


def test_an_estimate_that_was_too_low_is_tightened() -> None:
    """The compiler finds each candidate 15 dearer than the layers' own costs say."""
    layers = layers_of([(5.0, 0.0), (3.0, 0.0), (1.0, 0.0)], [(10, 20), (10, 20), (10, 20)])

    def ask(bits: Mapping[str, Bits]) -> Verdict:
        true = 15 + 10 * sum(b.activations // 8 for b in bits.values())
        return Verdict({"bytes": true}, {"bytes": true - 56} if true > 56 else {})

    found, _ = best_within(layers, Limits({"bytes": 56}, ("bytes",)), ask)
    assert found is not None
    assert list(found.bits.values()) == [WIDE, NARROW, NARROW]


def test_a_candidate_that_does_not_compile_gives_way() -> None:
    layers = layers_of([(5.0, 0.0), (3.0, 0.0)], [(1, 2), (1, 2)])

    def ask(bits: Mapping[str, Bits]) -> Verdict:
        return Verdict({}, refusal="no kernel" if bits["layer1"] == WIDE else "")

    found, _ = best_within(layers, Limits({}, ("bytes",)), ask)
    assert found is not None
    assert found.bits == {"layer0": WIDE, "layer1": NARROW}
    nothing, verdict = best_within(layers, Limits({}, ("bytes",)), lambda bits: Verdict({}, refusal="never"))
    assert nothing is None
    assert verdict.refusal == "never"


def test_the_front_begins_with_the_cheapest_and_ends_with_the_best() -> None:
    layers = layers_of([(float(i + 1), 0.0) for i in range(10)], [(8, 16)] * 10)
    points = front_of(layers, 0, 4)
    assert len(points) == 4
    assert set(points[0].values()) == {NARROW}
    assert set(points[-1].values()) == {WIDE}
    wides = [sum(b == WIDE for b in p.values()) for p in points]
    assert wides == sorted(wides)


def test_the_configuration_gives_each_layer_its_bits() -> None:
    parts = [Part("a", "Conv", frozenset({"x", "y"}), frozenset()), Part("b", "Conv", frozenset({"z"}), frozenset())]
    asking = mixed_asking(Plain(), parts, {"a": Bits(16, 4), "b": Bits(0, 0)})
    wide = asking.spec("activation", tensor="y")
    assert (wide.bits, wide.symmetric) == (16, True)
    assert asking.spec("weights", layer="a").bits == 4
    assert asking.spec("weights", layer="b").bits == 8
    assert asking.spec("activation", tensor="z") == Plain().spec("activation")
    assert asking.spec("bias", layer="a") == Plain().spec("bias")


@pytest.mark.parametrize("kind", ["nothing", "all"])
def test_without_limits_every_layer_gets_what_loses_least(kind: str) -> None:
    losses = [(1.0, 1.0)] * 3 if kind == "nothing" else [(1.0, 0.5)] * 3
    found, _ = best_within(layers_of(losses, [(1, 2)] * 3), Limits({}, ("bytes",)), lambda bits: Verdict({}))
    assert found is not None
    assert found.asked == 1
    assert set(found.bits.values()) == ({NARROW} if kind == "nothing" else {WIDE})


def test_what_is_refused_lacks_as_little_as_anything_that_was_asked_about() -> None:
    """The fewest bits need not be the cheapest: tables of wide results may be smaller than those of narrow ones."""
    layers = layers_of([[0.0, 1.0]] * 2, [(9, 4)] * 2)

    def ask(bits: Mapping[str, Bits]) -> Verdict:
        cost = sum(9 if b == NARROW else 5 for b in bits.values())
        return Verdict({"bytes": cost}, {"bytes": cost - 7})

    found, verdict = best_within(layers, Limits({"bytes": 7}, ("bytes",)), ask)
    assert found is None
    assert verdict.over == {"bytes": 3}
