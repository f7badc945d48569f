"""How one tensor is to be quantized, once everything that was asked for has been put together.

Decides nothing: `config.py` resolves it, `ranges` and `weights` carry it out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from codegen.records import record

Role = Literal["input", "weights", "bias", "activation"]
"""What a tensor is to its network: what it is given, what it knows, or what it computes."""
Method = Literal[
    "minmax",
    "moving_average",
    "percentile",
    "entropy",
    "mse",
    "diffs",
    "octav",
    "aciq_gauss",
    "aciq_laplace",
    "mix",
    "fixed",
]
"""How a range is found; each is a function of `ranges`."""
Rounding = Literal["half_even", "half_up", "half_away", "half_down"]
"""Where a number between two steps goes: to the even one, upwards, away from zero, towards zero."""
Learn = Literal["auto", "lsq", "lsq+", "tqt", "pact", "none"]
"""How training learns a range; `auto` is `tqt` for powers of two, else `lsq`."""
Statistic = Literal["all", "mean", "median", "max", "mode"]
"""What the samples' own ranges are put together by; `all` takes the samples as one."""


_BYTE = 8
_FREE = range(3, _BYTE)
"""Bits of weights with which zero points gain more than they cost."""


@record(kw_only=True)
class Spec:
    """One tensor's quantization as it was asked for.

    `group` is the number of entries along the reduced axis that share a scale: 0 means that nothing is shared by
    groups; with `per_channel`, each entry of the output channels' axis has its own.  `low` and `high` are the range
    that method `fixed` takes; `percentile` is in percent, `momentum` the weight of a new sample in a moving average.
    `scales`, where there are any, are those of weights, whatever the numbers.  `learn` is how training finds
    the range.  With `keep_float` the tensor stays real, and the other fields say nothing.  Where nobody says
    `symmetric` or `narrow_range` of weights, they are None: `centred` and `least` know what holds.
    """

    bits: int = 8
    symmetric: bool | None = False
    per_channel: bool = False
    group: int = 0
    pot: bool = False
    rounding: Rounding = "half_even"
    method: Method = "minmax"
    percentile: float = 99.99
    bins: int = 2048
    momentum: float = 0.01
    statistic: Statistic = "all"
    narrow_range: bool | None = False
    signed: bool = True
    low: float | None = None
    high: float | None = None
    scales: tuple[float, ...] = ()
    keep_float: bool = False
    learn: Learn = "auto"

    @property
    def centred(self) -> bool:
        """Whether zero is the integer 0."""
        if self.symmetric is None:
            return self.pot or bool(self.scales) or self.bits not in _FREE
        return self.symmetric

    @property
    def least(self) -> int:
        """The least integer."""
        narrow = self.centred and self.bits not in _FREE if self.narrow_range is None else self.narrow_range
        return (-(1 << (self.bits - 1)) + narrow) if self.signed else 0

    @property
    def greatest(self) -> int:
        """The greatest integer."""
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1

    def in_bits(self, bits: int) -> Spec:
        """The same of weights in other bits: in 8 zero is the integer 0, though fewer were said to have zero points."""
        return replace(self, bits=bits, symmetric=self.symmetric if bits < _BYTE else self.symmetric or None)
