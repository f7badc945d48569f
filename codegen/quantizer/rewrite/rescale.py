"""Factors that go out of one product and into the products that read it.

Decides: that a channel's factor over all rounds stays within 2^-20 .. 2^20, where float32 loses nothing.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.rewrite.chains import Chain
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.moved import Moved, both_moved
from codegen.quantizer.rewrite.product import Product, write_product

_MOST = 2.0**20


class Scaling:
    """The products of some chains while factors move through them."""

    def __init__(self, chains: list[Chain]) -> None:
        self._now: dict[str, Product] = {}
        self._moved: dict[str, Array] = {}
        self._chains = chains
        for chain in chains:
            for product in (*chain.makers, *(r.product for r in chain.readers)):
                self._now[product.label] = product
            self._moved[chain.maker.label] = np.ones(chain.maker.outputs)

    def made(self, chain: Chain, *, with_bias: bool = False) -> Array:
        """The largest weight that makes each channel, or bias where that counts too."""
        makers = [self._now[m.label] for m in chain.makers]
        sizes = [m.by_output() for m in makers] + ([np.abs(m.bias) for m in makers] if with_bias else [])
        return np.asarray(np.max(sizes, axis=0))

    def moved(self, chain: Chain) -> Array:
        """What each channel of a chain has been divided by so far."""
        return self._moved[chain.maker.label]

    def read(self, chain: Chain) -> Array:
        """The largest weight that reads each channel."""
        largest = np.zeros(chain.maker.outputs)
        for reader in chain.readers:
            own = reader.channels >= 0
            np.maximum.at(largest, reader.channels[own], self._now[reader.product.label].by_input()[own])
        return largest

    def move(self, chain: Chain, factor: Array) -> Array:
        """Divide a chain's channels by factors above zero and multiply what reads them; gives what was taken."""
        before = self.moved(chain)
        factor = np.clip(before * factor, 1 / _MOST, _MOST) / before
        self._moved[chain.maker.label] = before * factor
        for maker in chain.makers:
            self._now[maker.label] = self._now[maker.label].outputs_times(1 / factor)
        for reader in chain.readers:
            by = np.where(reader.channels < 0, 1.0, factor[reader.channels])
            self._now[reader.product.label] = self._now[reader.product.label].inputs_times(by)
        return factor

    def write(self, draft: Draft) -> None:
        """Give each product its numbers."""
        for product in self._now.values():
            write_product(draft, product)

    @property
    def tensors(self) -> dict[str, Moved]:
        """What became of the chains' tensors; a sum of several chains' has part in each."""
        found: dict[str, Moved] = {}
        for chain in self._chains:
            moved = self.moved(chain)
            found = both_moved(found, chain.moved(1 / moved, np.zeros_like(moved)))
        return found

    @property
    def pairs(self) -> int:
        """Chains whose channels have been divided by anything but one."""
        return sum(bool((moved != 1).any()) for moved in self._moved.values())

    @property
    def largest(self) -> float:
        """The largest factor, up or down."""
        return max((float(np.maximum(m, 1 / m).max()) for m in self._moved.values()), default=1.0)
