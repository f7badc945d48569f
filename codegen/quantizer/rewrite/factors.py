"""Which channels of a network's tensors have one positive factor in common, wherever one may go in and come out again.

Decides: a factor goes in at the outputs of a product or of BatchNormalization and comes out at the inputs of others;
what lies between keeps it, channel by channel.  Of what is added, and of what Concat joins, each channel's factor is
one; a gate that is multiplied with a tensor has none of its own.  Where anything else reads a channel it stays as it
is, and so do those that share its factor: the rest of the network is free all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.rewrite.channels import Broken, along, behind, only_axis, spread
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.product import product_of, write_product
from codegen.real.elementwise import Binary
from codegen.real.movement import Concat
from codegen.real.normal import BatchNorm
from codegen.records import record

FIXED = 0
"""The group of all channels that stay as they are."""


_Side = tuple[str, int, int]
"""A tensor, the axis of its channels, and how many there are."""


@record(eq=False)
class Channels:
    """A tensor whose channels lie along one axis, and the group of each: those of a group have one factor."""

    axis: int
    groups: Array


@record(eq=False)
class Taking:
    """A product or BatchNormalization: the group of each of its inputs and of each of its outputs."""

    label: str
    inputs: Array
    outputs: Array


@record(eq=False)
class Factors:
    """All of a network: `count` groups, those that stay as they are among them."""

    count: int
    takings: tuple[Taking, ...]
    tensors: Mapping[str, Channels]

    def write(self, draft: Draft, factors: Array) -> None:
        """Divide each channel by the factor of its group."""
        for taking in self.takings:
            into, out = factors[taking.inputs], 1 / factors[taking.outputs]
            node = draft.node(taking.label)
            product = product_of(draft, node)
            if product is not None:
                write_product(draft, product.inputs_times(into).outputs_times(out))
            else:
                _write_norm(draft, node, into, out)


def factors_of(graph: RealGraph) -> Factors:
    """The groups of a network's channels."""
    return _Search(Draft(graph)).done()


class _Search:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._parents = [FIXED]
        self._known: dict[str, Array] = {}
        self._takings: list[Taking] = []
        self._adders: set[str] = set()

    def done(self) -> Factors:
        """What there is when all nodes have been gone through."""
        for node in self._draft.nodes:
            if node.label not in self._adders:
                self._through(node)
        for name, groups in self._known.items():
            if not self._draft.is_inner(name):
                self._join(groups, FIXED)
        roots = np.array([self._root(i) for i in range(len(self._parents))])
        numbers, groups = np.unique(roots, return_inverse=True)
        assert numbers[0] == FIXED, "the lowest of all"
        takings = tuple(Taking(t.label, groups[t.inputs], groups[t.outputs]) for t in self._takings)
        tensors = {name: Channels(known.axis, groups[known.groups]) for name, known in self._alone().items()}
        return Factors(len(numbers), takings, {n: c for n, c in tensors.items() if (c.groups != FIXED).any()})

    def _alone(self) -> Mapping[str, Channels]:
        """The tensors that have their channels along one axis."""
        axes = {name: only_axis(known) for name, known in self._known.items()}
        return {
            name: Channels(
                axis, np.moveaxis(self._known[name], axis, 0).reshape(self._known[name].shape[axis], -1)[:, 0]
            )
            for name, axis in axes.items()
            if axis is not None
        }

    def _through(self, node: RealNode) -> None:
        """One node: the groups of what it writes, and what these have in common with those of what it reads."""
        product = product_of(self._draft, node)
        if product is not None:
            if product.adder is not None:
                self._adders.add(product.adder.label)
            reads, writes = (product.x, product.x_axis, product.inputs), (product.y, product.y_axis, product.outputs)
            self._take(node, reads, writes)
        elif isinstance(node.op, BatchNorm) and all(self._draft.constant(i) is not None for i in node.inputs[1:]):
            shape = self._draft.shape(node.inputs[0])
            axis = node.op.channel_axis % len(shape)
            self._take(node, (node.inputs[0], axis, shape[axis]), (node.outputs[0], axis, shape[axis]))
        else:
            try:
                groups = self._kept(node)
            except Broken:
                groups = None
            if groups is None:
                self._fix(node.inputs)
            else:
                self._known[node.outputs[0]] = _thin(groups)

    def _take(self, node: RealNode, reads: _Side, writes: _Side) -> None:
        """A node that takes factors at its inputs and gives others at its outputs."""
        x, axis, count = reads
        into = np.zeros(count, np.int32)
        if x in self._known:
            try:
                into = along(self._known[x], axis, node)
            except Broken:
                self._fix([x])
        y, axis, count = writes
        out = np.arange(len(self._parents), len(self._parents) + count, dtype=np.int32)
        self._parents.extend(out.tolist())
        self._known[y] = spread(out, axis, self._draft.shape(y))
        self._takings.append(Taking(node.label, into, out))

    def _kept(self, node: RealNode) -> Array | None:
        """The groups of what a node writes; None where they stay as they are."""
        known = [self._known.get(name) for name in node.inputs]
        if all(k is None for k in known) or len(node.outputs) != 1:
            return None
        if isinstance(node.op, Concat):
            shapes = [self._draft.shape(name) for name in node.inputs]
            parts = [
                np.broadcast_to(np.int32(FIXED), s) if k is None else k for k, s in zip(known, shapes, strict=True)
            ]
            return np.asarray(node.op.evaluate(parts)[0])
        if isinstance(node.op, Binary) and node.op.kind in ("Add", "Sub"):
            return self._added(node, known)
        if isinstance(node.op, Binary) and node.op.kind == "Mul":
            return self._gated(node, known)
        if sum(k is not None for k in known) > 1 or known[0] is None:
            return None
        return behind(self._draft, node, node.inputs[0], known[0])

    def _added(self, node: RealNode, known: Sequence[Array | None]) -> Array | None:
        """What two tensors of one shape become, channels of one place in one group."""
        one, other = known
        if one is None or other is None or one.shape != other.shape:
            return None
        self._join(one, other)
        return one

    def _gated(self, node: RealNode, known: Sequence[Array | None]) -> Array | None:
        """What a tensor becomes of which each number is multiplied by one of another, smaller tensor."""
        shape = self._draft.shape(node.outputs[0])
        whole = [i for i, name in enumerate(node.inputs) if self._draft.shape(name) == shape]
        if len(whole) != 1 or known[whole[0]] is None:
            return None
        self._fix([node.inputs[1 - whole[0]]])
        return known[whole[0]]

    def _fix(self, names: Sequence[str]) -> None:
        for name in names:
            if name in self._known:
                self._join(self._known[name], FIXED)

    def _join(self, one: Array, other: Array | int) -> None:
        """Make the groups of each pair one."""
        other = np.broadcast_to(np.asarray(other, np.int32), one.shape)
        idle = tuple(slice(1) if not (s or t) else slice(None) for s, t in zip(one.strides, other.strides, strict=True))
        pairs = np.unique(np.stack([one[idle].reshape(-1), other[idle].reshape(-1)], axis=1), axis=0)
        for a, b in pairs.tolist():
            low, high = sorted((self._root(a), self._root(b)))
            self._parents[high] = low

    def _root(self, group: int) -> int:
        while self._parents[group] != group:
            self._parents[group] = group = self._parents[self._parents[group]]
        return group


def _thin(groups: Array) -> Array:
    """The same groups in little memory, where they lie along one axis."""
    axis = only_axis(groups)
    return (
        groups
        if axis is None
        else spread(np.moveaxis(groups, axis, 0).reshape(groups.shape[axis], -1)[:, 0], axis, groups.shape)
    )


def _write_norm(draft: Draft, node: RealNode, into: Array, out: Array) -> None:
    """BatchNormalization of inputs times `into`, its outputs times `out`."""
    x, *names, variance = node.inputs
    times = (into * out, out, 1 / into)  # of the scale, the bias and the mean
    made = [draft.own(name, draft.numbers(name) * by) for name, by in zip(names, times, strict=True)]
    draft.with_inputs(node, (x, *made, variance))
