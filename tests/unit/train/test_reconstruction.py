"""Reconstruction: each method beside a plain one written from its formulas, for a block of two layers and a sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import codegen
from codegen.errors import CompileError
from tests.support.tools import require_module

STEPS, BATCH, COUNT = 40, 8, 24
BITS = 2
HIGH = (1 << (BITS - 1)) - 1
LOW = -HIGH
CONFIG = {"quantize": {"weights": {"bits": BITS}, "mixed": {"first": 0, "last": 0}}}
METHODS = ("adaround", "adaquant", "brecq", "qdrop")


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    require_module("torch")
    import torch

    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="module")
def x(torch: ModuleType) -> Any:
    return torch.randn(COUNT, 6, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def net(torch: ModuleType) -> Any:
    class Residual(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(6, 5, bias=False)
            self.second = torch.nn.Linear(5, 6, bias=False)

        def forward(self, x: Any) -> Any:
            return x + self.second(torch.relu(self.first(x)))

    torch.manual_seed(3)
    return Residual().eval()


def prepared_of(net: Any, x: Any, config: Any = CONFIG) -> Any:
    from codegen.train import prepare

    made = prepare(net, x[:BATCH], config)
    made.observe([x])
    return made


def integers(made: Any) -> list[np.ndarray]:
    graph = made.graph(1)
    return [weight.data for weight in made.moment(graph).weights.values()]


class Plain:
    """The same block by hand: weights [out, in] with a step per output, three tensors with a step and a zero point."""

    def __init__(self, torch: ModuleType, net: Any, made: Any, x: Any, method: str) -> None:
        self.torch, self.x, self.method = torch, x, method
        self.random = torch.Generator().manual_seed(11)
        self.w = [layer.weight.detach().clone() for layer in (net.first, net.second)]
        stored = [weight.stored for weight in made.moment(made.graph(1)).weights.values()]
        self.s = [torch.tensor(one.scale.reshape(-1, 1)) for one in stored]
        names = (x_name := made.graph(1).inputs[0], *(n for n in made.numbers.places.tensors if n.name != x_name))
        grids = [made.numbers.tensor_grid(getattr(name, "name", name)) for name in names]
        self.steps = [g.step().detach().clone() for g in grids]
        self.undecided = [np.zeros(w.shape, bool) for w in self.w]
        """Weights whose share ended in the middle: the last bit of a sum, which CPUs differ in, rounds them."""
        self.zeros = [float(g.zero) for g in grids]

    def held(self, t: Any, i: int) -> Any:
        """A tensor rounded, with LSQ's gradient of the step."""
        torch, s = self.torch, self.steps[i]
        g = 1 / math.sqrt(t.numel() // len(t) * 127)
        s = s * g + (s - s * g).detach()
        u = torch.clamp(t / s, -128 - self.zeros[i], 127 - self.zeros[i])
        return s * (u + (torch.round(u) - u).detach())

    def between(self, i: int, h: Any) -> Any:
        return self.s[i] * self.torch.clamp(self.torch.floor(self.w[i] / self.s[i]) + h, LOW, HIGH)

    def shares(self, v: Any) -> Any:
        return self.torch.clamp(self.torch.sigmoid(v) * 1.2 - 0.1, 0, 1)

    def started(self, i: int) -> Any:
        u = self.w[i] / self.s[i]
        return (-self.torch.log(1.2 / (u - self.torch.floor(u) + 0.1) - 1)).requires_grad_()

    def rows(self) -> Any:
        return self.torch.randperm(COUNT, generator=self.random)[:BATCH]

    def force(self, step: int, v: list[Any]) -> Any:
        t = (step / STEPS - 0.2) / 0.8
        if t <= 0:
            return 0.0
        b = 2 + 9 * (1 + math.cos(math.pi * t))
        return 0.3 * self.torch.cat([(1 - (2 * self.shares(one) - 1).abs() ** b).reshape(-1) for one in v]).mean()

    def rounded(self, v: Any, i: int) -> Any:
        return self.between(i, (self.shares(v) >= 0.5).float()).detach()

    def whole(self, w: Any, i: int) -> np.ndarray:
        return self.torch.round(w / self.s[i]).numpy()

    def by_layer(self) -> list[np.ndarray]:
        """AdaRound."""
        torch, found = self.torch, []
        given = self.held(self.x, 0).detach()
        real = torch.relu(self.x @ self.w[0].T)
        wanted = [real, real @ self.w[1].T]
        ends: list[Callable[[Any], Any]] = [torch.relu, lambda t: t]
        for i in range(2):

            def error(w: Any, rows: Any, i: int = i, given: Any = given) -> Any:
                return (ends[i](given[rows] @ w.T) - wanted[i][rows]).square().mean()

            everything = torch.arange(COUNT)
            before = float(error(self.nearest(i), everything))
            v = self.started(i)
            adam = torch.optim.Adam([v], lr=0.02)
            for step in range(STEPS):
                made = error(self.between(i, self.shares(v)), self.rows())
                self.moved(adam, made / before + self.force(step, [v]))
            best = self.rounded(v, i)
            best = best if float(error(best, everything)) < before else self.nearest(i)
            found.append(self.whole(best, i))
            given = self.held(ends[i](given @ best.T), i + 1).detach()
        return found

    def by_block(self) -> list[np.ndarray]:
        """BRECQ, and QDrop."""
        torch = self.torch
        for step in self.steps[1:]:
            step.requires_grad_()
        wanted = self.x + torch.relu(self.x @ self.w[0].T) @ self.w[1].T
        if self.method == "brecq":
            for rows in torch.arange(COUNT).split(BATCH):
                torch.randint(0, 2, (len(rows), 6), generator=self.random)  # squares of signs are 1 for the last block
        given = self.held(self.x, 0).detach()
        nearest = [self.nearest(0), self.nearest(1)]
        before = float((self.block(given, nearest, dropped=False) - wanted).square().mean().detach())
        v = [self.started(0), self.started(1)]
        rates = [{"params": [s], "lr": 0.002 * float(s.detach())} for s in self.steps[1:]]
        adam = torch.optim.Adam([{"params": v, "lr": 0.02}, *rates])
        dropped = self.method == "qdrop"
        for step in range(STEPS):
            rows = self.rows()
            read = self.mixed(given[rows], self.x[rows]) if dropped else given[rows]
            made = self.block(read, [self.between(i, self.shares(v[i])) for i in range(2)], dropped=dropped)
            self.moved(adam, (made - wanted[rows]).square().mean() / before + self.force(step, v))
        self.undecided = [((self.shares(one) - 0.5).abs() < 0.01).numpy() for one in v]
        return [self.whole(self.rounded(v[i], i), i) for i in range(2)]

    def block(self, x: Any, w: list[Any], *, dropped: bool) -> Any:
        a = self.torch.relu(x @ w[0].T)
        a = self.mixed(self.held(a, 1), a) if dropped else self.held(a, 1)
        b = a @ w[1].T
        b = self.mixed(self.held(b, 2), b) if dropped else self.held(b, 2)
        return self.held(x + b, 3)

    def mixed(self, held: Any, real: Any) -> Any:
        return self.torch.where(self.torch.rand(held.shape, generator=self.random) < 0.5, real, held)

    def learned(self) -> list[np.ndarray]:
        """AdaQuant."""
        torch, found = self.torch, []
        given = self.held(self.x, 0).detach()
        real = torch.relu(self.x @ self.w[0].T)
        wanted = [real, real @ self.w[1].T]
        ends: list[Callable[[Any], Any]] = [torch.relu, lambda t: t]
        for i in range(2):
            w, s = self.w[i].clone().requires_grad_(), self.s[i].clone().requires_grad_()

            def rounded(i: int = i, w: Any = w, s: Any = s) -> Any:
                g = 1 / math.sqrt(w.numel() // s.numel() * HIGH)
                damped = s * g + (s - s * g).detach()
                u = torch.clamp(w / damped, LOW, HIGH)
                return damped * (u + (torch.round(u) - u).detach())

            def error(rows: Any, i: int = i, given: Any = given, rounded: Any = rounded) -> Any:
                return (ends[i](given[rows] @ rounded().T) - wanted[i][rows]).square().mean()

            everything = torch.arange(COUNT)
            before = best = float(error(everything).detach())
            kept = w.detach().clone(), s.detach().clone()
            rates = [(w, 0.02 * float(s.detach().mean())), (s, 0.002 * float(s.detach().mean()))]
            adam = torch.optim.Adam([{"params": [p], "lr": rate} for p, rate in rates])
            for step in range(1, STEPS + 1):
                self.moved(adam, error(self.rows()) / before)
                if step % (STEPS // 10) == 0 and float(error(everything).detach()) < best:
                    best, kept = float(error(everything).detach()), (w.detach().clone(), s.detach().clone())
            w.data, s.data = kept
            found.append(torch.round(torch.clamp(w / s, LOW, HIGH)).detach().numpy())
            given = self.held(ends[i](given @ rounded().T), i + 1).detach()
        return found

    def nearest(self, i: int) -> Any:
        return self.s[i] * self.torch.clamp(self.torch.round(self.w[i] / self.s[i]), LOW, HIGH)

    @staticmethod
    def moved(adam: Any, loss: Any) -> None:
        adam.zero_grad()
        loss.backward()
        adam.step()


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_that_of_its_formulas(method: str, torch: ModuleType, net: Any, x: Any) -> None:
    from codegen.train import reconstruct

    made = prepared_of(net, x)
    plain = Plain(torch, net, made, x, method)
    nearest = integers(made)
    found = reconstruct(made, x, method, steps=STEPS, batch=BATCH, seed=11)
    wanted = {"adaround": plain.by_layer, "adaquant": plain.learned}.get(method, plain.by_block)()
    assert found[-1].after < found[-1].before
    changed = 0
    for mine, theirs, first, either in zip(integers(made), wanted, nearest, plain.undecided, strict=True):
        laid = mine.T if mine.shape != theirs.shape else mine
        np.testing.assert_array_equal(np.where(either, theirs, laid), theirs)
        changed += int((mine != first).sum())
    assert changed > 0
    assert sum(either.sum() for either in plain.undecided) <= 1


@pytest.mark.parametrize("learn", ["lsq", "none"])
def test_what_is_exported_is_what_the_module_computes(learn: str, torch: ModuleType, net: Any, x: Any) -> None:
    """By golden, in every sample; and once more the same bytes."""
    from codegen.train import export, reconstruct

    files = []
    for _ in range(2):
        made = prepared_of(net, x, {"quantize": {**CONFIG["quantize"], "learn": learn}})
        reconstruct(made, x, "brecq", steps=12, seed=5)
        files.append(export(made.eval()))
    assert files[0] == files[1]
    np.testing.assert_array_equal(codegen.run(files[0], x.numpy(), "golden"), made(x).numpy())


def test_what_comes_out_no_better_stays(torch: ModuleType, net: Any, x: Any) -> None:
    from codegen.train import export, reconstruct

    made = prepared_of(net, x, {})
    with torch.no_grad():
        for parameter in made.network.parameters():
            parameter.zero_()
    before = export(made)
    found = reconstruct(made, x, "adaround", steps=2)
    assert all(part.before == part.after for part in found)
    assert export(made) == before


def test_a_block_ends_where_everything_passes(torch: ModuleType) -> None:
    from codegen.train import prepare
    from codegen.train.blocks import blocks_of, layers_of
    from tests.support.training import Small, images, seeded

    made = prepare(seeded(Small, images(16)), images(2))
    graph, places = made.graph(2), made.numbers.places
    blocks = [[label for label, _ in part.weights] for part in blocks_of(graph, places) if part.weights]
    assert [len(block) for block in blocks] == [1, 1, 1, 2, 1], "the residual's two layers together"
    assert [len(part.weights) for part in layers_of(graph, places) if part.weights] == [1] * 6
    for parts in (blocks_of(graph, places), layers_of(graph, places)):
        known = set(graph.inputs)
        for part in parts:
            assert known.issuperset(part.reads), "in an order in which they can run"
            known.update(part.gives)
        assert sorted(n for part in parts for n in part.nodes) == sorted(n.label for n in graph.nodes)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"method": "best"}, "LAM-IMPORT-030"),
        ({"steps": 0}, "LAM-IMPORT-030"),
        ({"batch": True}, "LAM-IMPORT-030"),
        ({"samples": None}, "LAM-TRAIN-010"),
        ({"prepared": None}, "LAM-TRAIN-003"),
        ({"observed": False}, "LAM-TRAIN-005"),
    ],
)
def test_wrong_calls(words: dict[str, Any], code: str, torch: ModuleType, net: Any, x: Any) -> None:
    from codegen.train import prepare, reconstruct

    observed = words.pop("observed", True)
    made = prepared_of(net, x) if observed else prepare(net, x[:BATCH])
    given = {"prepared": made, "samples": x, "method": "adaround", "steps": 1, **words}
    with pytest.raises(CompileError, match=code):
        reconstruct(**given)
