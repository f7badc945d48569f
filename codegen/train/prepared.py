"""A network in training: what a torch module computes, in the chip's arithmetic.

Decides: when ranges are seen and when they are used, and that each tensor's integers are those of the golden model, so
that the forward pass of training and of evaluation is the integer network itself.  Gradients go through the same
network in torch, where every rounding is passed over (`learning`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from codegen.errors import GradientUnknown, InputsBad, ModelRejected, RangesUnseen, TrainingDiverged
from codegen.ir.quant import Array, Mode
from codegen.ir.real import RealGraph, RealNode
from codegen.train.asking import OBSERVED, Training
from codegen.train.integers import Integers, Ran, integers_of, renewed
from codegen.train.learning import array_of, through
from codegen.train.numbers import Moment, Numbers
from codegen.train.operators import is_known, run
from codegen.train.reading import Source
from codegen.train.seeing import Seeing

Feeds = Mapping[str, Tensor]


class Prepared(nn.Module):  # type: ignore[misc]
    """A network to be trained; `codegen.train.prepare` makes it, `codegen.train.export` writes it.

    `network` has the weights and biases, `ranges` what is learned of ranges.  In training mode the first batches pass
    as real numbers, and ranges are found; from then on every result is that of the integer network, and gradients reach
    weights, biases and ranges.  In evaluation mode the integer network runs.  With `exact` set to False training rounds
    in torch instead: faster, and off by a step now and then.
    """

    def __init__(self, source: Source, training: Training, mode: Mode | None) -> None:
        """Take a module that was read; LAM-TRAIN-004 and -009."""
        super().__init__()
        graph = source.graph(source.batch)
        _check(graph)
        self.exact = True
        self._together = True
        self._source, self._training, self._mode = source, training, mode
        self.numbers = Numbers(graph, source.graph(1), training)
        self.network, self.ranges = self.numbers.network, self.numbers.ranges
        wanted = training.config.learning.observe
        self.register_buffer("unseen", torch.tensor(OBSERVED if wanted is None else wanted))
        self._seeing: Seeing | None = Seeing(self.numbers.places, training)

    def forward(self, *inputs: Tensor) -> Any:
        """The outputs of the network as it is now, [samples, ...] each."""
        feeds = self.feeds_of(inputs)
        if self.training and self.observing:
            return self._first(feeds)
        return self._trained(feeds) if self.training else self._evaluated(feeds)

    @property
    def observing(self) -> bool:
        """Whether ranges are still being found."""
        return int(self.unseen) > 0

    def observe(self, batches: Iterable[Any]) -> None:
        """See these batches as real numbers, and begin with the ranges that they have.

        Raises:
            RangesUnseen: LAM-TRAIN-005, there is no batch.
        """
        self._seeing = Seeing(self.numbers.places, self._training)
        self.unseen.fill_(1)
        seen = 0
        for batch in batches:
            seen += 1
            self._look(self.feeds_of(tuple(batch) if isinstance(batch, tuple | list) else (batch,)))
        if not seen:
            raise RangesUnseen("there is no batch", where="observe")
        self._begin()

    def integers(self, *inputs: Tensor) -> dict[str, Array]:
        """The integers of the outputs, by the outputs' names: what the C gives for the same samples."""
        return dict(self._ran(self.feeds_of(inputs)).integers)

    def integer_network(self, samples: int = 1) -> Integers:
        """The integer network as it is now, for so many samples; LAM-TRAIN-005 and -006."""
        return self._integers(samples)

    def graph(self, samples: int) -> RealGraph:
        """The network of real numbers for so many samples; LAM-TRAIN-007."""
        return self._source.graph(samples)

    def range_parameters(self) -> Iterator[Any]:
        """What is learned of ranges; `network.parameters()` are the weights and biases."""
        yield from self.ranges.parameters()

    def feeds_of(self, inputs: tuple[Any, ...]) -> Feeds:
        """The inputs by their names; LAM-TRAIN-006 and -010."""
        shapes = self._source.shapes
        if len(inputs) != len(shapes):
            raise InputsBad(f"{len(inputs)} inputs, the network reads {', '.join(shapes)}", where="inputs")
        for (name, shape), x in zip(shapes.items(), inputs, strict=True):
            if not isinstance(x, Tensor) or tuple(x.shape[1:]) != shape[1:] or not len(x):
                found = f"shape {list(x.shape)}" if isinstance(x, Tensor) else f"type {type(x).__name__}"
                raise InputsBad(f"has {found}, the example {list(shape)}", where=f"input '{name}'")
            if not torch.isfinite(x).all():
                raise TrainingDiverged("holds NaN or infinity", where=f"input '{name}'")
        return dict(zip(shapes, inputs, strict=True))

    def _first(self, feeds: Feeds) -> Any:
        """One of the first batches."""
        outputs = self._look(feeds)
        self.unseen -= 1
        if not self.observing:
            self._begin()
        return outputs

    def _look(self, feeds: Feeds) -> Any:
        """The network of real numbers, each tensor seen."""
        assert self._seeing is not None, "ranges are being found"
        graph = self._source.graph(_samples(feeds))
        live = dict(feeds)
        for node in graph.nodes:
            live[node.outputs[0]] = self.computed(graph, node, live)
        for name, x in live.items():
            self._seeing.see(name, x)
        return _given([live[name] for name in graph.outputs])

    def _begin(self) -> None:
        assert self._seeing is not None, "ranges were found"
        self.numbers.begin(self._seeing.found())
        self.unseen.fill_(0)
        self._seeing = None

    def _evaluated(self, feeds: Feeds) -> Any:
        """What the integer network gives, as real numbers."""
        ran = self._ran(feeds)
        return _given([torch.as_tensor(y, device=self.unseen.device) for y in ran.reals.values()])

    def _trained(self, feeds: Feeds) -> Any:
        """The same through torch, for gradients."""
        graph = self._source.graph(_samples(feeds))
        moment = self.moment(graph)
        ran = self._ran(feeds) if self.exact else Ran({}, {}, {})
        known = {name: torch.as_tensor(q, device=self.unseen.device) for name, q in ran.centred.items()}
        live = {name: self.numbers.hold(name, x, known) for name, x in feeds.items()}
        for node in graph.nodes:
            name = node.outputs[0]
            live[name] = self.numbers.hold(name, self.computed(graph, node, live, moment), known)
        given = [torch.as_tensor(y, device=self.unseen.device) for y in ran.reals.values()]
        computed = [live[name] for name in graph.outputs]
        return _given([through(y, like) for y, like in zip(given, computed, strict=True)] if given else computed)

    def _ran(self, feeds: Feeds) -> Ran:
        """The integer network on these samples: on all at once, unless an operator of it takes one alone."""
        samples = _samples(feeds)
        if self._together and samples > 1:
            try:
                return self._integers(samples).run(_arrays(feeds))
            except ModelRejected:
                self._together = False
        return self._integers(1).run(_arrays(feeds))

    def computed(self, graph: RealGraph, node: RealNode, live: Feeds, moment: Moment | None = None) -> Tensor:
        """A node's result on what is `live`, its constants as a moment holds them, or as they are."""
        known = {} if moment is None else moment.held
        held = [known.get((node.label, place)) for place in range(len(node.inputs))]
        return run(
            node,
            [
                self._operand(graph, name, live) if own is None else own
                for name, own in zip(node.inputs, held, strict=True)
            ],
        )

    def _operand(self, graph: RealGraph, name: str, live: Feeds) -> Tensor:
        return live[name] if name in live else self.numbers.constant(graph, name, self.unseen)

    def moment(self, graph: RealGraph, only: Collection[str] | None = None) -> Moment:
        """Everything as it is now, or constants of some nodes `only`; LAM-TRAIN-005 and -006."""
        if self.observing:
            raise RangesUnseen(f"{int(self.unseen)} batches are still to be seen", where="module")
        return self.numbers.moment(graph, only)

    def _integers(self, samples: int) -> Integers:
        graph = self._source.graph(samples)
        scheme = self.moment(graph).scheme
        return integers_of(renewed(graph, self.numbers.constants()), scheme, self._training.config, self._mode)


def _check(graph: RealGraph) -> None:
    """LAM-TRAIN-004 for every operator that has no gradient."""
    unknown = [n for n in graph.nodes if not is_known(n)]
    problems = [GradientUnknown(f"{type(n.op).__name__} is not trained", where=n.where) for n in unknown]
    if problems:
        raise problems[0] if len(problems) == 1 else ModelRejected(problems, where=graph.name)


def _samples(feeds: Feeds) -> int:
    return len(next(iter(feeds.values())))


def _arrays(feeds: Feeds) -> dict[str, Array]:
    return {name: array_of(x).astype(np.float32, copy=False) for name, x in feeds.items()}


def _given(outputs: list[Tensor]) -> Any:
    """Outputs as a module gives them."""
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
