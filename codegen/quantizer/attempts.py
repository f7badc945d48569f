"""The float rewrites that a recipe tries on a network, each for the judge to keep or not.

Decides: which ones, by recipe and configuration, and in which order: bounds first, since equalisation goes further
without them, then ranges between layers and within tensors, and offsets last.  Leaves the rewrites to their files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from codegen.ir.real import RealGraph
from codegen.options import RecipeName as RecipeName
from codegen.quantizer.config import Rewrite, Switch
from codegen.quantizer.rewrite.absorb import absorb, seen_floors
from codegen.quantizer.rewrite.equalise import Equalising, equalise
from codegen.quantizer.rewrite.extremes import Seen
from codegen.quantizer.rewrite.level import level
from codegen.quantizer.rewrite.record import Rewritten
from codegen.quantizer.rewrite.smooth import smooth
from codegen.quantizer.rewrite.unclip import has_bounds, unclip
from codegen.records import record

Look = Callable[[], Seen]
"""What each channel has been over the samples, looked at when it is needed."""
_SHARES = (0.5, 0.75)
_EQUALISED, _FREED = "channels equalised", "channels equalised, ReLU6 as ReLU"
EVENED = frozenset((_EQUALISED, _FREED))
"""Attempts that make channels alike."""


@record
class Attempt:
    """A rewrite by its name in the report; one that is insisted on is kept whatever the judge says.

    One that is `spared` is not worth its time where one of `EVENED` has been kept.
    """

    name: str
    insisted: bool
    rewritten: Callable[[RealGraph, Look], Rewritten]
    spared: bool = False


def attempts_of(recipe: RecipeName, asked: Rewrite) -> tuple[Attempt, ...]:
    """What a recipe tries, but for what the configuration decides."""
    return tuple(_attempts(recipe, asked))


def _attempts(recipe: RecipeName, asked: Rewrite) -> Iterator[Attempt]:
    usual: Switch = "off" if recipe == "fast" else "try"
    rounds = asked.equalize_rounds or Equalising().iterations
    unclipped, equalized = asked.relu6_to_relu or usual, asked.equalize or usual
    if unclipped == "on":
        yield Attempt("ReLU6 as ReLU", True, lambda graph, look: unclip(graph))
    if equalized != "off":
        yield Attempt(_EQUALISED, equalized == "on", lambda graph, look: _equalised(graph, look, rounds))
    if unclipped == "try" and equalized != "off":
        yield Attempt(_FREED, False, lambda graph, look: _freed(graph, rounds))
    elif unclipped == "try":
        yield Attempt("ReLU6 as ReLU", False, lambda graph, look: unclip(graph))
    levelled = asked.level or usual
    if levelled != "off":
        spared = levelled == "try" and recipe != "best"
        yield Attempt("channels levelled", levelled == "on", lambda graph, look: level(graph, look()), spared)
    smoothed = asked.smooth or ("try" if recipe == "best" else "off")
    if smoothed != "off":
        for share in _SHARES if asked.smooth_share is None else (asked.smooth_share,):
            yield Attempt(f"channels smoothed by {share:g}", smoothed == "on", _smoothing(share))
    absorbed = asked.absorb or usual
    if absorbed != "off":
        yield Attempt("biases absorbed", absorbed == "on", lambda graph, look: absorb(graph, seen_floors(look())))


def _equalised(graph: RealGraph, look: Look, rounds: int) -> Rewritten:
    """Equalised, channels below bounds as far as they were never seen to reach these."""
    return equalise(graph, Equalising(iterations=rounds, seen=look() if has_bounds(graph) else {}))


def _freed(graph: RealGraph, rounds: int) -> Rewritten:
    """Equalised without bounds; nothing where there are none."""
    free = unclip(graph)
    return equalise(free.graph, Equalising(iterations=rounds)) if free.record.pairs else free


def _smoothing(share: float) -> Callable[[RealGraph, Look], Rewritten]:
    return lambda graph, look: smooth(graph, look(), strength=share)
