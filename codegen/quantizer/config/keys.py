"""The keys that say how a tensor is quantized: which there are, what they take, whose they are.

Decides: the grammar of one level, and what one key implies for others.  Leaves to `levels` which level wins, and to
`rules` which keys do not go together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args

from codegen.quantizer.config.kinds import FLAG, GRANULARITY, RANGE, STEPS, Kind, one_of, real, whole, words_of
from codegen.quantizer.spec import Learn, Method, Role, Rounding, Spec, Statistic
from codegen.records import record

ROLES: tuple[Role, ...] = get_args(Role)
METHODS: tuple[str, ...] = get_args(Method)
_COMPUTED: tuple[Role, ...] = ("input", "activation")
_KNOWN: tuple[Role, ...] = ("input", "weights", "activation")
_OF_SAMPLES = ("moving_average", "fixed")
"""Methods that do not go with weights."""
_OF_RESULTS = ("lsq+", "pact")
"""Ways of learning that do not either."""
_WIDE = 16
"""Bits that do not, and that tensors around zero have."""

DEFAULTS: Mapping[Role, Spec] = {
    "input": Spec(),
    "weights": Spec(symmetric=None, per_channel=True, narrow_range=None),
    "bias": Spec(bits=32, symmetric=True, per_channel=True),
    "activation": Spec(),
}
"""What holds where nobody asked for anything: what every target computes."""


@record
class Key:
    """One key: what it takes, which tensors' it is, and the fields of `Spec` that it fills.

    Said above the level of one role, it goes to the roles it is for and leaves the others alone.
    """

    name: str
    kind: Kind
    says: str
    roles: tuple[Role, ...]
    fills: Callable[[Any], dict[str, object]]


def _key(name: str, kind: Kind, says: str, roles: tuple[Role, ...] = _KNOWN, field: str = "") -> Key:
    return Key(name, kind, says, roles, lambda value: {field or name: value})


def _granularity(value: tuple[bool, int]) -> dict[str, object]:
    return {"per_channel": value[0], "group": value[1]}


def _range(value: tuple[float, float]) -> dict[str, object]:
    return {"low": value[0], "high": value[1], "method": "fixed"}


def _bits(value: int) -> dict[str, object]:
    return {"bits": value, "symmetric": True} if value == _WIDE else {"bits": value}


def _threshold(value: float) -> dict[str, object]:
    return {"low": -value, "high": value, "method": "fixed"}


def _scale(value: str) -> dict[str, object]:
    return {"pot": True, "symmetric": True} if value == "pot" else {"pot": False}


KEYS: tuple[Key, ...] = (
    Key(
        "bits",
        whole(2, 8, 16, 32),
        "Width of the integers; 16 implies `symmetric`, 32 is that of biases.",
        ROLES,
        _bits,
    ),
    Key(
        "scale",
        one_of("float", "pot"),
        "Scales of any size, or powers of two, which imply `symmetric`.",
        _KNOWN,
        _scale,
    ),
    _key("symmetric", FLAG, "Whether zero is the integer 0, so that there is no zero point."),
    _key("signed", FLAG, "Whether the integers are signed."),
    _key("narrow_range", FLAG, "Whether the least signed integer is left out."),
    Key(
        "granularity",
        GRANULARITY,
        "What shares a scale: the tensor, an output channel, N weights of one.",
        ("weights",),
        _granularity,
    ),
    Key(
        "scales",
        STEPS,
        "The scales themselves: one, or one for each output channel.",
        ("weights",),
        lambda value: {"scales": value, "per_channel": len(value) > 1, "group": 0},
    ),
    _key("rounding", words_of(get_args(Rounding)), "Where a constant between two integers goes.", ROLES),
    Key("range", RANGE, 'The range itself, for `method = "fixed"`, which it implies.', _COMPUTED, _range),
    Key(
        "threshold",
        real(1e-30, 3e38, "a number above zero"),
        "What the least signed integer stands for; it goes before `range` where a tensor is symmetric.",
        _COMPUTED,
        _threshold,
    ),
    _key("method", words_of(METHODS), "How a range is found."),
    _key("percentile", real(50, 100), "Per cent of the numbers that `percentile` leaves in range."),
    _key("bins", whole(128, 65536), "Bins of the histogram that methods look at."),
    _key("momentum", real(1e-6, 1, "above 0, to 1"), "Weight of a new sample in `moving_average`.", _COMPUTED),
    _key("statistic", words_of(get_args(Statistic)), "What the samples' own extremes become one range by.", _COMPUTED),
    _key(
        "learn",
        words_of(get_args(Learn)),
        "How training (docs/training.md) learns the range.",
    ),
    _key("keep_float", FLAG, "Whether the tensor stays float.", ROLES),
)
_LAST = ("range", "symmetric", "method")
"""What is said of these goes before what other keys imply."""
_ORDER = (*(key.name for key in KEYS if key.name not in _LAST), *_LAST)
NAMED: Mapping[str, Key] = {key.name: key for key in KEYS}


def keys_of(role: Role | None) -> tuple[str, ...]:
    """The keys of a role's tables; without one, of the tables for all roles."""
    return tuple(key.name for key in KEYS if role is None or role in key.roles)


def said_to(role: Role, values: Mapping[str, object], for_all: bool) -> dict[str, object]:
    """What of a table's values is for a role; `for_all` where the table is for every role."""
    return {
        name: v
        for name, v in values.items()
        if role in NAMED[name].roles and not (for_all and _is_not_for(role, name, v))
    }


def _is_not_for(role: Role, name: str, value: object) -> bool:
    """Whether what is said of all tensors can only mean the others."""
    if name == "learn":
        return role == "weights" and value in _OF_RESULTS
    if name == "bits":
        return role == "bias" or (role == "weights" and value == _WIDE)
    return role == "weights" and (value in _OF_SAMPLES or (name in ("signed", "symmetric") and value is False))


def _at_threshold(spec: Spec, threshold: float) -> Spec:
    """Steps of the threshold over the number of negative integers: the greatest one reaches a step less."""
    negative = 1 << (spec.bits - 1)
    reach = threshold * spec.greatest / negative if spec.signed else threshold
    return replace(spec, low=-reach if spec.signed else 0.0, high=reach)


def spec_of(role: Role, values: Mapping[str, object]) -> Spec:
    """The whole of what values of keys ask for; what is said goes before what other keys imply."""
    asked: dict[str, Any] = {}
    for name in sorted(values, key=_ORDER.index):
        asked.update(NAMED[name].fills(values[name]))
    spec = replace(DEFAULTS[role], **asked)
    threshold = values.get("threshold")
    if isinstance(threshold, float) and (spec.symmetric or "range" not in values):
        return _at_threshold(spec, threshold)
    return spec
