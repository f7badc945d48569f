"""From products to the products that read their channels, through operators that keep each channel's factor.

Decides: that a chain is whole or there is none: where any reader would see the factor, nothing is scaled.  Tensors that
are added share their channels' factors, and so do the products that write them, where that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.quantizer.rewrite.channels import Broken, along, behind, only_axis, spread, stays
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.moved import Moved
from codegen.quantizer.rewrite.product import Product, maker_of, product_of
from codegen.real.elementwise import Binary, Clip
from codegen.records import record


@record(eq=False)
class Reader:
    """A product behind: `channels` names for each of its inputs the maker's channel, or -1."""

    product: Product
    channels: Array


@record(eq=False)
class Chain:
    """Products whose results share their channels' factors, what reads these in the end, and the nodes between.

    `tensors` are all values from the makers to the readers, with the makers' channel of each element, or -1.
    """

    makers: tuple[Product, ...]
    readers: tuple[Reader, ...]
    between: tuple[RealNode, ...]
    tensors: Mapping[str, Array]

    @property
    def maker(self) -> Product:
        """The first one."""
        return self.makers[0]

    def moved(self, times: Array, less: Array) -> dict[str, Moved]:
        """What its tensors become when the makers' channels do, but for those that have these along two axes."""
        found = {}
        for name, channels in self.tensors.items():
            axis = only_axis(channels)
            if axis is not None:
                along = np.moveaxis(channels, axis, 0).reshape(channels.shape[axis], -1)[:, 0]
                own = along >= 0
                found[name] = Moved(axis, np.where(own, times[along], 1.0), np.where(own, less[along], 0.0))
        return found


@record
class Terms:
    """What else a chain must and may hold.

    `passes` is asked of each node between; `joins`: sums of two tensors; `capped` are what products write that a Clip
    with an upper bound may read: the caller takes care of the bound.
    """

    passes: Callable[[RealNode], bool] = lambda node: True
    joins: bool = False
    capped: Collection[str] = ()


def chains(draft: Draft, terms: Terms | None = None) -> tuple[list[Chain], list[str]]:
    """Every whole chain, and in words what broke the others; each product makes one at most."""
    found, broken = list[Chain](), list[str]()
    known: set[str] = set()
    for node in draft.nodes:
        product = None if node.label in known else product_of(draft, node)
        if product is not None:
            try:
                found.append(_Search(draft, product, terms or Terms()).whole())
                known.update(m.label for m in found[-1].makers)
            except Broken as error:
                broken.append(f"{node.where}: {error}")
    return found, broken


class _Search:
    """The chain that begins with one product.

    A tensor is straight where its channels lie as the product writes them; only such tensors are added.
    """

    def __init__(self, draft: Draft, maker: Product, terms: Terms) -> None:
        self._draft, self._terms, self._axis, self._count = draft, terms, maker.y_axis, maker.outputs
        self._makers = {maker.label: maker}
        self._readers: list[Reader] = []
        self._between: dict[str, RealNode] = {}
        self._straight = {maker.y}
        self._ahead: list[tuple[str, Array, bool]] = [(maker.y, self._channels(maker.y), True)]
        self._capped = False
        self._tensors: dict[str, Array] = {}

    def whole(self) -> Chain:
        """The chain; raises Broken where somebody else would see the factor."""
        while self._ahead:
            name, channels, straight = self._ahead.pop()
            self._tensors[name] = channels
            readers = tuple(self._draft.readers(name))
            if not self._draft.is_inner(name) or not readers:
                raise Broken("its result leaves the network")
            if straight:
                self._origin(name)
            for node in readers:
                self._read(node, name, channels, straight)
        if self._capped and len(self._makers) > 1:
            raise Broken("bounds behind a sum")
        makers, between = tuple(self._makers.values()), tuple(self._between.values())
        return Chain(makers, tuple(self._readers), between, self._tensors)

    def _channels(self, name: str) -> Array:
        return spread(np.arange(self._count), self._axis, self._draft.shape(name))

    def _enter(self, name: str) -> None:
        """One more straight tensor."""
        if name not in self._straight:
            shape = self._draft.shape(name)
            if (
                self._draft.values[name].data is not None
                or len(shape) <= self._axis
                or shape[self._axis] != self._count
            ):
                raise Broken("a constant, or a tensor of other channels, is added")
            self._straight.add(name)
            self._ahead.append((name, self._channels(name), True))

    def _origin(self, name: str) -> None:
        """What writes a straight tensor: a product of the chain, or a node whose inputs are straight as well."""
        product, node = maker_of(self._draft, name), self._draft.maker(name)
        if product is not None and product.y_axis == self._axis:
            self._makers[product.label] = product
        elif node is not None and (self._is_join(node) or stays(node.op)):
            for source in node.inputs if self._is_join(node) else node.inputs[:1]:
                self._enter(source)
        else:
            raise Broken("a tensor from elsewhere is added")

    def _is_join(self, node: RealNode) -> bool:
        """Whether a node adds two tensors of one shape."""
        shapes = {self._draft.shape(n) for n in (*node.inputs, *node.outputs)}
        return self._terms.joins and node.op == Binary("Add") and len(shapes) == 1

    def _read(self, node: RealNode, name: str, channels: Array, straight: bool) -> None:
        """One reader of a tensor."""
        product = product_of(self._draft, node)
        if product is not None and node.inputs.index(name) == 0:
            self._readers.append(Reader(product, along(channels, product.x_axis, node)))
            return
        if not self._terms.passes(node):
            raise Broken(f"read by {node.where}")
        self._between[node.label] = node
        if straight and self._is_join(node):
            self._enter(node.outputs[0])
        elif straight and stays(node.op):
            self._check(node, name, channels)
            self._enter(node.outputs[0])
        else:
            self._ahead.append((node.outputs[0], behind(self._draft, node, name, channels), False))

    def _check(self, node: RealNode, name: str, channels: Array) -> None:
        """Refuse a node that leaves channels where they are and keeps no factor."""
        is_maker = any(m.y == name for m in self._makers.values())
        if isinstance(node.op, Clip) and node.op.low == 0 and is_maker and name in self._terms.capped:
            self._capped = self._capped or 0 < node.op.high < np.inf
        else:
            behind(self._draft, node, name, channels)
