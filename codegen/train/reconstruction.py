"""Reconstruction: weights of few bits, part by part, so that each part gives what the float network gives there.

The samples run through the network as it is quantized so far, and gradients choose the part's integers.  With
u = w / step and h(v) = clip(1.2 sigmoid(v) - 0.1, 0, 1), a weight's integer is

    adaround  layer by layer  floor(u) + h(v), where a regularizer 1 - |2 h - 1|^b makes h 0 or 1    (arXiv 2004.10568)
    adaquant  layer by layer  round(u); w, step and bias are learned straight through, the best kept (arXiv 2006.10518)
    brecq     block by block  as adaround; errors weighed by sensitivity, steps of results learned   (arXiv 2102.05426)
    qdrop     block by block  as brecq without weighing; half of the numbers pass unrounded          (arXiv 2203.05740)

Decides: that a part whose error over all samples is no less than with the nearest integers stays as it was; and, by a
seed, all draws.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from codegen.errors import ModuleMissing, OptionBad
from codegen.quantizer.places import Constant
from codegen.records import record
from codegen.train.blocks import Part, blocks_of, layers_of
from codegen.train.passing import Passing, Way
from codegen.train.prepared import Prepared

Method = Literal["adaround", "adaquant", "brecq", "qdrop"]
_BY_BLOCK = ("brecq", "qdrop")
_RATE = 2e-2
"""Of what is chosen up or down."""
_PARTS = 2e-2
"""Of learned weights and biases, in steps; a tenth of that of steps."""
_FORCE = 0.3
"""Of the regularizer, beside an error that is 1 to begin with."""
_FREE = 0.2
"""Share of the steps before the regularizer sets in."""
_SHARP, _BLUNT = 2.0, 20.0
_LOOKS = 10
"""How often AdaQuant looks whether it is at its best."""
_DROPPED = 0.5
_WIDER, _BELOW = 1.2, 0.1
_LEAST = 1e-20


@record(kw_only=True)
class Rebuilt:
    """One part: its layers with weights, and its error before and after; the same where it was kept as it was."""

    layers: tuple[str, ...]
    before: float
    after: float


def reconstruct(
    prepared: Prepared, samples: Any, method: Method = "brecq", *, steps: int = 500, batch: int = 32, seed: int = 0
) -> tuple[Rebuilt, ...]:
    """Choose the integers of the weights so that each part of the network gives what the float one gives.

    Args:
        prepared: what `prepare` has made, whose ranges were found (`observe`).
        samples: a tensor, or a tuple of them, as the module is called with; labels are not needed.
        method: `adaround` and `adaquant` go layer by layer, `brecq` and `qdrop` block by block.
        steps: of the optimizer, for each part.
        batch: samples of a step.
        seed: of all draws.

    Raises:
        OptionBad: LAM-IMPORT-030.
        CompileError: LAM-TRAIN-003, -005 to -007 and -010.
    """
    _check(prepared, method, {"steps": steps, "batch": batch})
    given = tuple(samples) if isinstance(samples, tuple | list) else (samples,)
    feeds = prepared.feeds_of(given)
    passing = Passing(prepared, feeds, min(batch, len(given[0])))
    prepared.moment(prepared.graph(1), ())
    graph, places = prepared.graph(min(batch, len(given[0]))), prepared.numbers.places
    parts = blocks_of(graph, places) if method in _BY_BLOCK else layers_of(graph, places)
    random = torch.Generator().manual_seed(seed)
    passing.look(parts, random if method == "brecq" else None)
    found = tuple(_walked(passing, parts, _Rebuilding(passing, method, steps, random)))
    prepared.zero_grad(set_to_none=True)
    return found


def _check(prepared: Any, method: str, counts: dict[str, int]) -> None:
    if not isinstance(prepared, Prepared):
        found = f"nothing that prepare() has made: it is of type {type(prepared).__name__}"
        raise ModuleMissing(found, where="prepared")
    if method not in get_args(Method):
        raise OptionBad(f"{method!r}", where="method", hint=f"choose one of {', '.join(get_args(Method))}")
    for word, count in counts.items():
        if type(count) is not int or count < 1:
            raise OptionBad(f"{count!r}", where=word, hint="give a whole number above 0")


def _walked(passing: Passing, parts: list[Part], rebuilding: _Rebuilding) -> Iterator[Rebuilt]:
    for part in parts:
        if part.weights:
            yield rebuilding(part)
        passing.go_on(part)


class _Rebuilding:
    """A method, at work on one part after the other."""

    def __init__(self, passing: Passing, method: Method, steps: int, random: torch.Generator) -> None:
        self._passing, self._numbers, self._method = passing, passing.prepared.numbers, method
        self._steps, self._random = steps, random
        by_block = method in _BY_BLOCK
        self._judged = Way(holds=by_block)
        self._fitted = Way(holds=by_block, dropped=_DROPPED, random=random) if method == "qdrop" else self._judged

    def __call__(self, part: Part) -> Rebuilt:
        before, old = self._passing.whole_error(part, self._judged), self._state()
        after = self._learned(part, before) if self._method == "adaquant" else self._chosen(part, before)
        if not after < before:
            self._passing.prepared.load_state_dict(old)
            after = before
        names = dict.fromkeys(self._numbers.places.node(c).name for c in self._weights(part))
        return Rebuilt(layers=tuple(names), before=before, after=after)

    def _chosen(self, part: Part, before: float) -> float:
        """The error once each weight was rounded up or down by gradients."""
        choices = {c.key: _Choice(self._passing, part, c) for c in self._weights(part)}
        groups = [{"params": [c.value for c in choices.values()], "lr": _RATE}]
        optimizer = torch.optim.Adam(groups + (self._steps_of(part) if self._method in _BY_BLOCK else []))
        for step in range(self._steps):
            loss = self._loss(part) / max(before, _LEAST)
            share = (step / self._steps - _FREE) / (1 - _FREE)
            if share > 0:
                sharp = _SHARP + 0.5 * (_BLUNT - _SHARP) * (1 + math.cos(math.pi * share))
                open_ = torch.cat([c.open(sharp).reshape(-1) for c in choices.values()])
                loss = loss + _FORCE * open_.mean()
            self._step(optimizer, loss)
        for choice in choices.values():
            choice.settle(self._passing, part)
        return self._passing.whole_error(part, self._judged)

    def _learned(self, part: Part, before: float) -> float:
        """The least error on the way of weights, steps and biases, where they are left."""
        optimizer, best, kept = torch.optim.Adam(self._all_of(part)), before, self._state()
        for step in range(1, self._steps + 1):
            self._step(optimizer, self._loss(part) / max(before, _LEAST))
            if step % max(1, self._steps // _LOOKS) == 0 or step == self._steps:
                error = self._passing.whole_error(part, self._judged)
                if error < best:
                    best, kept = error, self._state()
        self._passing.prepared.load_state_dict(kept)
        return best

    def _loss(self, part: Part) -> Any:
        """The error of some samples."""
        count = min(self._passing.batch, self._passing.count)
        rows = torch.randperm(self._passing.count, generator=self._random)[:count]
        read = self._passing.read(part, rows, self._fitted)
        return self._passing.error(part, rows, self._passing.run(part, rows, read, self._fitted))

    @staticmethod
    def _step(optimizer: Any, loss: Any) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def _weights(self, part: Part) -> list[Constant]:
        known = (c for c in self._numbers.places.constants if c.key in part.weights)
        return [c for c in known if c.key in self._passing.moment(part).held and self._numbers.parameter(c) is not None]

    def _steps_of(self, part: Part) -> list[dict[str, Any]]:
        """What is learned of the ranges of results, at a rate for each."""
        nodes = [n for n in self._passing.prepared.graph(1).nodes if n.label in part.nodes]
        grids = (self._numbers.tensor_grid(name) for node in nodes for name in node.outputs)
        return [_rated(p, 0.1 * _PARTS) for grid in grids if grid is not None for p in grid.step.parameters()]

    def _all_of(self, part: Part) -> list[dict[str, Any]]:
        """Weights, their steps and biases, at a rate for each."""
        groups = []
        for constant in self._numbers.places.constants:
            parameter, grid = self._numbers.parameter(constant), self._numbers.grid(constant)
            if constant.label not in part.nodes or parameter is None:
                continue
            step = parameter if grid is None else grid.step()
            groups.append({"params": [parameter], "lr": _PARTS * float(step.detach().abs().mean())})
            groups += [_rated(p, 0.1 * _PARTS) for p in (() if grid is None else grid.step.parameters())]
        return groups

    def _state(self) -> Any:
        return copy.deepcopy(self._passing.prepared.state_dict())


def _rated(parameter: Any, part: float) -> dict[str, Any]:
    """A parameter that is learned at a rate in parts of its size."""
    return {"params": [parameter], "lr": part * max(float(parameter.detach().abs().mean()), _LEAST)}


class _Choice:
    """Which of the two integers beside it each weight of a constant becomes."""

    def __init__(self, passing: Passing, part: Part, constant: Constant) -> None:
        parameter, grid = passing.prepared.numbers.parameter(constant), passing.prepared.numbers.grid(constant)
        assert parameter is not None
        assert grid is not None
        self._parameter, self._grid, self._key = parameter, grid, constant.key
        with torch.no_grad():
            stored = passing.moment(part).weights[constant.key].stored
            wide = torch.as_tensor(stored.spread(tuple(parameter.shape))[0])
            above = parameter / wide - torch.floor(parameter / wide)
            self.value = (-torch.log(_WIDER / (above + _BELOW) - 1)).requires_grad_()
        grid.keep()
        grid.chosen = self.share

    def share(self) -> Tensor:
        """From 0, down, to 1, up."""
        return torch.clamp(torch.sigmoid(self.value) * _WIDER - _BELOW, 0, 1)

    def open(self, sharp: float) -> Tensor:
        """How far each is from a choice: 1 in the middle."""
        return 1 - (2 * self.share() - 1).abs() ** sharp

    def settle(self, passing: Passing, part: Part) -> None:
        """Make the weights what their integers hold."""
        with torch.no_grad():
            up = (self.share() >= 0.5).to(self.value.dtype)
            self._grid.chosen = lambda: up
            self._parameter.copy_(passing.moment(part).held[self._key])
        self._grid.chosen = None
