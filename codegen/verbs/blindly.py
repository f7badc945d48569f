"""What a network is quantized by where there are no samples, and what is said of that.

Decides: how many inputs are made up; that ranges which BatchNormalization knows are taken from it, unless the
configuration has others; and that biases take up the error that is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from codegen.errors import OptionBad
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.asked import Asked
from codegen.quantizer.blind import Belief, beliefs, made_up
from codegen.quantizer.config import Correct, QuantConfig
from codegen.quantizer.config.levels import TENSOR, Level, literal
from codegen.quantizer.places import Places, Tensor
from codegen.records import record

_COUNT = 64
_KNOWN = "noise of the mean and size that the first BatchNormalization knew"
_UNKNOWN = "noise of deviation 1, since there is no BatchNormalization that knows better"


class Drawn(Protocol):
    """How many samples are made up, and by which seed."""

    @property
    def samples(self) -> int | None:
        """How many."""
        ...

    @property
    def seed(self) -> int | None:
        """Of the noise."""
        ...


@record(eq=False)
class Blind:
    """Made-up samples, a configuration below the one that was given, and means of tensors."""

    arrays: Mapping[str, Array]
    config: QuantConfig
    means: Mapping[str, Array]


def blindly(given: RealGraph, places: Places, asking: Asked, how: Drawn) -> Blind:
    """What stands in for samples of a network, `given` as its file has it; ranges that `asking` says stay.

    Raises:
        OptionBad: LAM-IMPORT-030 for a network with inputs that are no real numbers.
    """
    _check(given)
    arrays, is_known = made_up(given, how.samples or _COUNT, how.seed or 0)
    said = frozenset(t.name for t in places.tensors if _says_range(asking, t))
    known = dict(_ranged(places, beliefs(given)))
    levels = tuple(
        Level(values={"range": (b.low, b.high)}, rank=TENSOR, chosen=literal(name), place="BatchNormalization")
        for name, b in known.items()
    )
    first = f"{len(said)} of {len(places.tensors)} ranges are as asked for, " if said else ""
    note = f"no samples were given: {first}{len(known.keys() - said)} of {len(places.tensors)} ranges are what"
    note += " BatchNormalization says, the others and all figures are by made-up inputs, "
    note += _KNOWN if is_known else _UNKNOWN
    config = QuantConfig(levels=levels, correct=Correct(bias="analytic"), notes=(note,))
    return Blind(arrays, config, {name: b.mean for name, b in known.items()})


def _says_range(asking: Asked, tensor: Tensor) -> bool:
    return asking.says("range", tensor.role, layer=tensor.layer, op_type=tensor.op_type, tensor=tensor.name)


def _check(graph: RealGraph) -> None:
    for name in graph.inputs:
        if not graph.type(name).is_real:
            hint = f"give samples: the input '{name}' takes integers, which cannot be made up"
            raise OptionBad("none", where="calib", hint=hint)


def _ranged(places: Places, known: Mapping[str, Belief]) -> Iterator[tuple[str, Belief]]:
    """The tensors whose range is known and that are given integers of their own."""
    for tensor in places.tensors:
        belief = known.get(tensor.name)
        same = belief is not None and belief.mean.shape == places.graph.type(tensor.name).shape
        if belief is not None and same and not tensor.like and tensor.bounds is None:
            yield tensor.name, belief
