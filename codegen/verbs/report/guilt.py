"""The layers that lose most of a quantized network's accuracy, and what may be done about each.

Decides: by what a tensor's figures show why it loses.  Leaves to `lamina sensitivity` what it would bring.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.quantizer.versus import TensorError
from codegen.records import record
from codegen.report.sensitive import QuantComparison, SensitivityReport

_ROUNDING = 0.35
"""Steps that rounding adds, a little above the root of one twelfth."""
_CLIPPED = 0.001
_FEW_CODES = 0.25
_WIDE = 16
_FINE = "it loses what rounding loses"


@record(kw_only=True)
class Guilty:
    """One tensor, by what its layer adds to the float network's numbers; `layer` and gains where they are known.

    `gains_float` and `gains_16` are dB that the whole network gains with the layer kept real, and with 16 bits.
    `fine`: it loses what rounding loses, and there is nothing to mend.
    """

    tensor: str
    operator: str
    own_sqnr: float
    own_steps: float
    clipped: float
    advice: str
    fine: bool = False
    gains_float: float | None = None
    gains_16: float | None = None


def guilty(found: QuantComparison, sensitivity: SensitivityReport | None) -> Iterator[Guilty]:
    """All tensors, the one whose layer loses most at the top."""
    gains = {row.name: row for row in sensitivity.parts} if sensitivity else {}
    for error in sorted(found.tensors, key=lambda t: t.own_sqnr):
        gain, said = gains.get(error.tensor), [*advice(error)]
        yield Guilty(
            tensor=error.tensor,
            operator=error.operator,
            own_sqnr=error.own_sqnr,
            own_steps=error.own_steps,
            clipped=error.clipped,
            advice="; ".join(said) or _FINE,
            fine=not said,
            gains_float=gain.gains_float if gain else None,
            gains_16=gain.gains_16 if gain else None,
        )


def advice(error: TensorError) -> Iterator[str]:
    """What the figures say, in at most two sentences; none where rounding alone is lost."""
    few = error.codes < _FEW_CODES and error.bits < _WIDE
    if error.clipped > _CLIPPED:
        share = f"{100 * error.clipped:.2g} %"
        yield f"{share} of its numbers are beyond its integers: a range by another method, or more samples"
    if few:
        yield f"{100 * error.codes:.0f} % of its integers occur: a narrower range, or more bits"
    if error.own_steps > _ROUNDING and error.clipped <= _CLIPPED and not few:
        yield "its layer adds more than rounding: weights with a scale per channel, more bits, or --keep-float"
