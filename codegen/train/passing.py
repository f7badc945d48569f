"""Samples on their way through a network in training: in real numbers, and as it is quantized so far.

Decides: what is kept of them, the tensors between parts; and that the sensitivity of a number is that of the outputs,
the square of the gradient of their sum with random signs, which is the diagonal of J'J on the average.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from codegen.errors import BatchFixed
from codegen.ir.real import RealGraph
from codegen.train.blocks import Part
from codegen.train.numbers import Moment
from codegen.train.prepared import Feeds, Prepared


class Passing:
    """The samples: `real` and `held` are what parts read and give, `weights` how much each number of it counts."""

    def __init__(self, prepared: Prepared, feeds: Feeds, batch: int) -> None:
        """Take samples, so many of which run at once."""
        self.prepared, self.batch = prepared, batch
        self.count = len(next(iter(feeds.values())))
        self.real: dict[str, Tensor] = dict(feeds)
        self.held = {name: prepared.numbers.hold(name, x, {}).detach() for name, x in feeds.items()}
        self.weights: dict[str, Tensor] = {}

    def rows(self) -> Iterator[Tensor]:
        """All samples, some at once."""
        yield from torch.arange(self.count).split(self.batch)

    def look(self, parts: Sequence[Part], random: torch.Generator | None) -> None:
        """Run the float network; with draws, find out how much each number counts."""
        names = tuple(dict.fromkeys(name for part in parts for name in part.gives))
        found = [self._looked(parts, names, rows, random) for rows in self.rows()]
        for i, name in enumerate(names):
            self.real[name] = torch.cat([values[i] for values, _ in found])
            if random is not None:
                counts = torch.cat([gradients[i] for _, gradients in found]).square()
                self.weights[name] = counts / counts.mean().clamp(min=1e-30)

    def _looked(
        self, parts: Sequence[Part], names: Sequence[str], rows: Tensor, random: torch.Generator | None
    ) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        graph, live = self._graph(rows), {name: self.real[name][rows] for name in self.held}
        with torch.set_grad_enabled(random is not None):
            for part in parts:
                for node in self._nodes(graph, part):
                    y = self.prepared.computed(graph, node, live)
                    live[node.outputs[0]] = y if random is None or y.requires_grad else y.requires_grad_()
            values = [self._checked(name, live[name], len(rows)) for name in names]
            if random is None:
                return values, ()
            signs = (torch.randint(0, 2, live[o].shape, generator=random) * 2.0 - 1 for o in graph.outputs)
            total = sum((live[o] * s).sum() for o, s in zip(graph.outputs, signs, strict=True))
            gradients = torch.autograd.grad(total, values, allow_unused=True)
        known = [torch.zeros_like(v) if g is None else g for v, g in zip(values, gradients, strict=True)]
        return [v.detach() for v in values], known

    def run(self, part: Part, rows: Tensor, read: Mapping[str, Tensor], way: Way) -> dict[str, Tensor]:
        """What a part gives for some samples, from what it reads."""
        graph, numbers, live = self._graph(rows), self.prepared.numbers, dict(read)
        moment = self.moment(part, graph)
        for node in self._nodes(graph, part):
            name = node.outputs[0]
            live[name] = self.prepared.computed(graph, node, live, moment)
            if way.holds or name not in part.gives:
                live[name] = way.mixed(numbers.hold(name, live[name], {}), live[name], last=name in part.gives)
        return {name: live[name] for name in part.gives}

    def moment(self, part: Part, graph: RealGraph | None = None) -> Moment:
        """How the constants of a part are held now."""
        return self.prepared.moment(graph or self._graph(torch.arange(self.batch)), frozenset(part.nodes))

    def go_on(self, part: Part) -> None:
        """Take all samples through a part, as it is quantized now."""
        with torch.no_grad():
            made = [self.run(part, rows, self.read(part, rows), Way()) for rows in self.rows()]
        self.held |= {name: torch.cat([one[name] for one in made]) for name in part.gives}

    def read(self, part: Part, rows: Tensor, way: Way | None = None) -> dict[str, Tensor]:
        """What a part reads of some samples."""
        mix = way or Way()
        return {name: mix.mixed(self.held[name][rows], self.real[name][rows], last=False) for name in part.reads}

    def error(self, part: Part, rows: Tensor, made: Mapping[str, Tensor]) -> Any:
        """The mean square that is missing to what the float network gives."""
        total: Any = 0.0
        for name in part.gives:
            square = (made[name] - self.real[name][rows]).square()
            total = total + (square if name not in self.weights else square * self.weights[name][rows]).mean()
        return total

    def whole_error(self, part: Part, way: Way) -> float:
        """Over all samples."""
        with torch.no_grad():
            parts = [
                float(self.error(part, rows, self.run(part, rows, self.read(part, rows), way))) * len(rows)
                for rows in self.rows()
            ]
        return sum(parts) / self.count

    def _graph(self, rows: Tensor) -> RealGraph:
        return self.prepared.graph(len(rows))

    def _nodes(self, graph: RealGraph, part: Part) -> Iterator[Any]:
        labels = {node.label: node for node in graph.nodes}
        return (labels[label] for label in part.nodes)

    def _checked(self, name: str, x: Tensor, count: int) -> Tensor:
        """A tensor between parts, which has the samples first; LAM-TRAIN-007 otherwise."""
        if not x.dim() or len(x) != count:
            raise BatchFixed(f"tensor '{name}' of shape {list(x.shape)} has no samples first", where="reconstruct")
        return x


class Way:
    """How a part runs: whether what it gives is rounded, and, with draws, which share of numbers passes unrounded."""

    def __init__(self, *, holds: bool = True, dropped: float = 0.0, random: torch.Generator | None = None) -> None:
        """All numbers are rounded where nothing is said."""
        self.holds, self._dropped, self._random = holds, dropped, random

    def mixed(self, held: Tensor, real: Tensor, *, last: bool) -> Tensor:
        """The rounded numbers, in whose places some real ones stand; of what a part gives, never."""
        if self._random is None or last or held is real:
            return held
        return torch.where(torch.rand(held.shape, generator=self._random) < self._dropped, real, held)
