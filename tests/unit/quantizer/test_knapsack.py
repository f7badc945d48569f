"""The knapsack gives what trying everything gives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.quantizer import knapsack
from codegen.quantizer.knapsack import Options, front, least_loss

LOSS = st.integers(0, 50).map(float) | st.just(np.inf)


@st.composite
def layers_and_limits(draw: st.DrawFn) -> tuple[list[Options], list[int]]:
    kinds = draw(st.integers(1, 3))
    layers = []
    for _ in range(draw(st.integers(1, 5))):
        options = draw(st.integers(1, 4))
        losses = np.array(draw(st.lists(LOSS, min_size=options, max_size=options)))
        cost = st.lists(st.integers(0, 12), min_size=kinds, max_size=kinds)
        layers.append(Options(losses, np.array(draw(st.lists(cost, min_size=options, max_size=options)))))
    return layers, draw(st.lists(st.integers(0, 40), min_size=kinds, max_size=kinds))


def everything(layers: list[Options]) -> list[tuple[float, tuple[int, ...]]]:
    """Loss and costs of every choice."""
    found = []
    for options in product(*(range(len(o.losses)) for o in layers)):
        picked = list(zip(layers, options, strict=True))
        found.append((sum(o.losses[i] for o, i in picked), tuple(sum(o.costs[i] for o, i in picked).tolist())))
    return found


@settings(max_examples=400)
@given(layers_and_limits())
def test_the_best_choice_is_that_of_brute_force(case: tuple[list[Options], list[int]]) -> None:
    layers, limits = case
    within = [loss for loss, costs in everything(layers) if all(c <= m for c, m in zip(costs, limits, strict=True))]
    best = min(within, default=np.inf)
    found = least_loss(layers, limits)
    assert (found is None) == (best == np.inf)
    if found is not None:
        assert found.loss == best
        assert sum(o.losses[i] for o, i in zip(layers, found.options, strict=True)) == best
        assert all(c <= m for c, m in zip(found.costs, limits, strict=True))


@settings(max_examples=200)
@given(layers_and_limits())
def test_the_front_is_that_of_brute_force(case: tuple[list[Options], list[int]]) -> None:
    layers, _ = case
    every = sorted({(c[0], loss) for loss, c in everything(layers) if loss < np.inf})
    wanted, best = [], np.inf
    for cost, loss in every:
        if loss < best:
            wanted.append((cost, loss))
            best = loss
    assert [(c.costs[0], c.loss) for c in front(layers)] == wanted


def test_a_table_that_is_too_large_is_coarser_and_still_within_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    layers = [Options(np.sort(rng.random(4))[::-1], rng.integers(1, 1 << 20, (4, 2)).cumsum(axis=0)) for _ in range(6)]
    limits = [int(sum(o.costs[:, k].mean() for o in layers)) for k in (0, 1)]
    exact = min(loss for loss, costs in everything(layers) if all(c <= m for c, m in zip(costs, limits, strict=True)))
    found = least_loss(layers, limits)
    assert found is not None
    assert exact <= found.loss <= 1.1 * exact
    assert all(c <= m for c, m in zip(found.costs, limits, strict=True))
    monkeypatch.setattr(knapsack, "CELLS", 64)
    coarse = least_loss(layers, limits)
    assert coarse is not None
    assert found.loss <= coarse.loss
    assert all(c <= m for c, m in zip(coarse.costs, limits, strict=True))


def test_fifty_layers_are_exact_in_the_common_divisor() -> None:
    """Of two options each, in multiples of 1024: what fits is known without trying."""
    layers = [Options(np.array([1.0 + i, 0.0]), np.array([[1024], [2048]])) for i in range(50)]
    found = least_loss(layers, [50 * 1024 + 10 * 1024 + 1023])
    assert found is not None
    assert found.options == (0,) * 40 + (1,) * 10
    assert len(front(layers)) == 51
