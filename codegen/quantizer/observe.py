"""Runs a float network on the calibration samples and shows its tensors to whoever watches them.

Decides: that samples are seen twice, one after the other, the next one made meanwhile, and nothing of them is kept; and
that no number that is not finite gets any further.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from codegen.errors import CalibrationNotFinite
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.scheme import Runner, Running
from codegen.threads import ahead

Sample = Mapping[str, Array]
"""One array per input, by name."""
Progress = Callable[[int, int], None]
"""Called with the number of runs done and the number of all."""


class Samples(Protocol):
    """Samples, made when they are asked for."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def __getitem__(self, index: int, /) -> Sample:
        """One of them."""
        ...


class Watching(Protocol):
    """What looks at one tensor: each sample in a first pass, and again in a second one."""

    def first(self, array: Array) -> None:
        """A sample in the first pass."""
        ...

    def second(self, array: Array) -> None:
        """The same sample in the second pass."""
        ...


def observe(
    graph: RealGraph,
    samples: Samples,
    runner: Runner,
    watching: Mapping[str, Watching],
    progress: Progress | None = None,
    passes: int = 2,
) -> None:
    """Show each watched tensor, of all samples, once or twice.

    Raises:
        CalibrationNotFinite: LAM-QUANT-022, with the sample and the tensor.
    """
    for place in range(passes):
        running = runner(graph)  # anew, for what a network keeps between runs

        def watched(index: int, running: Running = running) -> list[tuple[str, Array]]:
            return [(name, array) for name, array in running.tensors(samples[index]) if name in watching]

        for index, tensors in enumerate(ahead(watched, len(samples))):
            for name, array in tensors:
                _check(array, name, index)
                (watching[name].second if place else watching[name].first)(array)
            if progress is not None:
                progress(place * len(samples) + index + 1, passes * len(samples))


def _check(array: Array, name: str, index: int) -> None:
    # the sum is finite where every number is, but for numbers beyond all measure
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()
    if not np.isfinite(total) and not np.isfinite(array).all():
        raise CalibrationNotFinite("holds NaN or infinity", where=f"sample {index}, tensor '{name}'")
