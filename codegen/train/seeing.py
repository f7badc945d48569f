"""What is seen of tensors before their ranges are learned.

Decides: that of each batch every number counts for the extremes, and a sample of them for methods that look at
histograms; nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.quantizer.calibrate import passes, tensors_of, watched
from codegen.quantizer.places import Places
from codegen.train.asking import Training

_KEPT = 1 << 15
"""Numbers of a batch that are counted into histograms."""


class Seeing:
    """Tensors that are being seen."""

    def __init__(self, places: Places, training: Training) -> None:
        """Nothing yet."""
        self._places, self._training = places, training
        self._seen = watched(places, training)
        self._again = passes(places, training) > 1
        self._kept: dict[str, list[Array]] = {name: [] for name in self._seen}

    def see(self, name: str, x: Tensor) -> None:
        """A batch of one tensor."""
        if name in self._seen:
            array = x.detach().cpu().numpy().reshape(-1)
            self._seen[name].first(array)
            if self._again:
                self._kept[name].append(array[:: -(-array.size // _KEPT)].copy())

    def found(self) -> Mapping[str, Stored]:
        """The integers of each tensor, by the ranges that were seen."""
        for name, arrays in self._kept.items():
            for array in arrays:
                self._seen[name].second(array)
        return tensors_of(self._places, self._seen, self._training)
