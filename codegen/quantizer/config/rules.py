"""What does not go together, each rule with its sentence.

Decides: which quantizations exist.  A rule looks at one tensor's whole `Spec`, whichever levels it was put together of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from codegen.quantizer.spec import Role, Spec
from codegen.records import record

_EXTREMES = ("minmax", "diffs")
_SEARCHING = ("entropy",)
_ANY_SIZE = ("lsq", "lsq+", "pact")
"""What learns scales of any size."""


@record
class Rule:
    """A sentence that holds, the keys it is about, and when it is broken."""

    sentence: str
    keys: tuple[str, ...]
    broken: Callable[[Role, Spec], bool]


RULES: tuple[Rule, ...] = (
    Rule(
        "a power of two as scale goes with integers around zero: symmetric = true",
        ("scale", "symmetric"),
        lambda role, spec: spec.pot and not spec.centred,
    ),
    Rule(
        '`diffs` chooses between powers of two: scale = "pot"',
        ("method", "scale"),
        lambda role, spec: spec.method == "diffs" and not spec.pot,
    ),
    Rule(
        "`fixed` takes a range that is given: range = [low, high]",
        ("method", "range"),
        lambda role, spec: spec.method == "fixed" and spec.low is None,
    ),
    Rule(
        'a range that is given is taken as it is: method = "fixed"',
        ("method", "range"),
        lambda role, spec: spec.method != "fixed" and spec.low is not None,
    ),
    Rule(
        'a moving average puts the samples together itself: statistic = "all"',
        ("method", "statistic"),
        lambda role, spec: spec.method == "moving_average" and spec.statistic != "all",
    ),
    Rule(
        "a statistic of the samples' extremes goes with `minmax` and `diffs`; the other methods see all samples as one",
        ("method", "statistic"),
        lambda role, spec: spec.statistic != "all" and spec.method not in (*_EXTREMES, "moving_average"),
    ),
    Rule(
        "only signed integers have a least one to leave out: narrow_range = false, or signed = true",
        ("narrow_range", "signed"),
        lambda role, spec: bool(spec.narrow_range) and not spec.signed,
    ),
    Rule(
        "integers of weights are signed: signed = true",
        ("signed",),
        lambda role, spec: role == "weights" and not spec.signed,
    ),
    Rule(
        "weights of 8 bits, or with scales that are given, are around zero: symmetric = true",
        ("symmetric", "bits", "scales"),
        lambda role, spec: role == "weights" and not spec.centred and (spec.bits >= 8 or bool(spec.scales)),
    ),
    Rule(
        "weights are known whole and have ranges of their own: neither `moving_average` nor `fixed`",
        ("method",),
        lambda role, spec: role == "weights" and spec.method in ("moving_average", "fixed"),
    ),
    Rule("weights have 2 to 8 bits", ("bits",), lambda role, spec: role == "weights" and spec.bits > 8),
    Rule("biases have 32 bits", ("bits",), lambda role, spec: role == "bias" and spec.bits != 32),
    Rule(
        "inputs and activations have 2 to 8 bits, or 16",
        ("bits",),
        lambda role, spec: role in ("input", "activation") and spec.bits > 16,
    ),
    Rule(
        "`entropy` merges bins into half as many levels as there are integers: bins are at least twice those",
        ("method", "bins", "bits"),
        lambda role, spec: spec.method == "entropy" and spec.bins < 1 << spec.bits,
    ),
    Rule(
        '`tqt` learns powers of two: scale = "pot"',
        ("learn", "scale"),
        lambda role, spec: spec.learn == "tqt" and not spec.pot,
    ),
    Rule(
        'powers of two are learned by `tqt`, or not: learn = "tqt" or "none"',
        ("learn", "scale"),
        lambda role, spec: spec.learn in _ANY_SIZE and spec.pot,
    ),
    Rule(
        "`lsq+` learns a zero point besides: symmetric = false",
        ("learn", "symmetric"),
        lambda role, spec: spec.learn == "lsq+" and spec.centred and role != "weights",
    ),
    Rule(
        "`lsq+` and `pact` are for what is computed: of weights no zero point is learned, and none is cut off for good",
        ("learn",),
        lambda role, spec: spec.learn in ("lsq+", "pact") and role == "weights",
    ),
)


def broken(role: Role, spec: Spec) -> Iterator[Rule]:
    """The rules that one tensor's quantization breaks; one that stays float breaks none."""
    return (rule for rule in RULES if not spec.keep_float and rule.broken(role, spec))
