"""Where a quantized network loses: each of its parts alone, and what keeping it real or giving it 16 bits returns.

Decides: what belongs together, and the order: the part that loses most when nothing else is quantized comes first.  A
judge that is handed in says how good a network is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, get_args

from codegen.options import By as By
from codegen.quantizer.asked import Asking
from codegen.quantizer.observe import Progress
from codegen.quantizer.places import Places
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.spec import Role, Spec
from codegen.records import record
from codegen.spread import HERE, Spread

BY: tuple[By, ...] = get_args(By)
Judge = Callable[[Scheme], float]
"""SQNR in dB of the network's outputs with a scheme."""
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@record
class Part:
    """Tensors and constants of a scheme that are looked at together."""

    name: str
    op_type: str
    tensors: frozenset[str]
    weights: frozenset[tuple[str, int]]


@record
class Sensitivity:
    """One part: SQNR in dB with it alone quantized; what the whole gains with it real, and with 16 bits.

    `gains_wide` is None where no scheme of 16 bits was handed in.
    """

    part: Part
    alone: float
    gains_float: float
    gains_wide: float | None = None


@record
class Wide:
    """A configuration with 16 bits for every tensor."""

    base: Asking

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        spec = self.base.spec(role, layer=layer, op_type=op_type, tensor=tensor)
        return spec if role in ("weights", "bias") else replace(spec, bits=16, symmetric=True)


def parts_of(places: Places, scheme: Scheme, by: By = "layer") -> tuple[Part, ...]:
    """The parts of a scheme in the network's order.

    An activation that is part of the layer before it belongs there, and a tensor that is only moved to what it was
    moved from.
    """
    tensors: dict[tuple[str, str], set[str]] = {}
    weights: dict[tuple[str, str], set[tuple[str, int]]] = {}
    home: dict[str, tuple[str, str]] = {}
    for tensor in places.tensors:
        if tensor.name in scheme.tensors:
            own = _key(by, tensor.name, layer_of(places, tensor.name) or (tensor.layer, tensor.op_type))
            home[tensor.name] = home.get(tensor.like, own)
            tensors.setdefault(home[tensor.name], set()).add(tensor.name)
    for constant in places.constants:
        if constant.key in scheme.weights:
            key = _key(by, constant.name, (constant.layer, constant.op_type))
            weights.setdefault(key, set()).add(constant.key)
    names = sorted({*tensors, *weights}, key=_order(places, by))
    return tuple(Part(*k, frozenset(tensors.get(k, ())), frozenset(weights.get(k, ()))) for k in names)


def layer_of(places: Places, tensor: str) -> tuple[str, str] | None:
    """The node of the model that computes a tensor, the first of those that become one layer, and its operator."""
    maker = next((n for n in places.graph.nodes if tensor in n.outputs), None)
    while maker is not None:
        inner = next((i for i in maker.inputs if i in places.folded), None)
        if inner is None:
            return maker.name, maker.op_type
        maker = next((n for n in places.graph.nodes if inner in n.outputs), None)
    return None


def _key(by: By, tensor: str, layer: tuple[str, str]) -> tuple[str, str]:
    return {"layer": layer, "type": (layer[1], layer[1]), "tensor": (tensor, layer[1])}[by]


def _order(places: Places, by: By) -> Callable[[tuple[str, str]], int]:
    """Where a part's first node stands."""
    places_of: dict[str, int] = {}
    for index, node in enumerate(places.graph.nodes):
        for name in {"layer": (node.name,), "type": (node.op_type,), "tensor": (*node.inputs, *node.outputs)}[by]:
            places_of.setdefault(name, index)
    return lambda key: places_of.get(key[0], -1)


def only(scheme: Scheme, part: Part) -> Scheme:
    """The scheme of one part, everything else real."""
    return Scheme(_chosen(scheme.tensors, part.tensors), _chosen(scheme.weights, part.weights))


def without(scheme: Scheme, part: Part) -> Scheme:
    """The scheme with one part real."""
    tensors = _chosen(scheme.tensors, scheme.tensors.keys() - part.tensors)
    return Scheme(tensors, _chosen(scheme.weights, scheme.weights.keys() - part.weights))


def exchanged(scheme: Scheme, part: Part, other: Scheme) -> Scheme:
    """The scheme with one part as another scheme has it."""
    mine, theirs = without(scheme, part), only(other, part)
    return Scheme({**mine.tensors, **theirs.tensors}, {**mine.weights, **theirs.weights})


def _chosen(every: Mapping[_Key, _Value], keys: Collection[_Key]) -> dict[_Key, _Value]:
    return {key: value for key, value in every.items() if key in keys}


@record(kw_only=True)
class Looking:
    """By what parts are looked at: the whole scheme, its judge, and one of 16 bits where gains are asked for."""

    scheme: Scheme
    judge: Judge
    wide: Scheme | None = None


def sensitivities(
    parts: Sequence[Part], look: Looking, spread: Spread = HERE, progress: Progress | None = None
) -> tuple[Sensitivity, ...]:
    """Each part, the one that loses most by itself first."""
    whole = look.judge(look.scheme)
    told = None if progress is None else lambda done: progress(done, len(parts))
    found = spread.each(_Look(look, whole), parts, told)
    return tuple(sorted(found, key=lambda s: s.alone))


@record
class _Look:
    """One part after another, beside the whole."""

    look: Looking
    whole: float

    def __call__(self, part: Part) -> Sensitivity:
        judge, scheme, wide = self.look.judge, self.look.scheme, self.look.wide
        alone = judge(only(scheme, part))
        returned = judge(without(scheme, part)) - self.whole
        wider = None if wide is None else judge(exchanged(scheme, part, wide)) - self.whole
        return Sensitivity(part, alone, returned, wider)
