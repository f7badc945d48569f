"""Where a quantized network loses, and a quantized network beside its float one: records, and their text."""

from __future__ import annotations

from codegen.quantizer.numbers import TensorNumbers
from codegen.quantizer.versus import TensorError
from codegen.records import record
from codegen.report.table import text_table

_DB = 2


@record(kw_only=True)
class SensitivityRow:
    """One layer, operator or tensor: SQNR in dB with it alone quantized, and what the whole gains with it otherwise.

    `gains_float`: with it kept real; `gains_16`: with 16 bits for its tensors.
    """

    name: str
    operator: str
    tensors: int
    constants: int
    alone: float
    gains_float: float
    gains_16: float


@record(kw_only=True)
class SensitivityReport:
    """All parts, the one that loses most by itself first.  `whole` is the SQNR with everything quantized."""

    model: str
    by: str
    samples: int
    judged: int
    whole: float
    parts: tuple[SensitivityRow, ...]


def sensitivity_text(report: SensitivityReport) -> str:
    """The table, and what the figures are."""
    headers = [report.by, "operator", "alone dB", "float +dB", "16 bits +dB"]
    if report.by == "type":
        headers.remove("operator")
    rows = [_cells(r, report.by) for r in report.parts]
    least = ("operator",) if report.by != "type" else ()
    said = f"everything quantized: {report.whole:.{_DB}f} dB, over {report.judged} samples; {report.samples} set ranges"
    means = "alone: nothing else is quantized; + what the whole gains when this one stays float, or gets 16 bits"
    return f"{text_table(headers, rows, least=least)}\n\n{said}\n{means}"


def _cells(row: SensitivityRow, by: str) -> list[object]:
    figures = [round(x, _DB) for x in (row.alone, row.gains_float, row.gains_16)]
    return [row.name, *([] if by == "type" else [row.operator]), *figures]


@record(kw_only=True)
class QuantComparison:
    """A quantized network beside the float one, in the order in which tensors are computed.

    `unmatched` are the quantized tensors that the float network has none of that name for.  `numbers` are those of the
    tensors, where they were asked for.
    """

    model: str
    quantized: str
    samples: int
    tensors: tuple[TensorError, ...]
    unmatched: tuple[str, ...]
    numbers: tuple[TensorNumbers, ...] = ()


def comparison_text(report: QuantComparison) -> str:
    """The table, and what the figures are."""
    headers = ["tensor", "operator", "bits", "SQNR dB", "steps", "own dB", "own steps", "most", "clipped %", "codes %"]
    rows = [_compared(t) for t in report.tensors]
    lines = [text_table(headers, rows, least=("operator", "bits", "most", "codes %"))]
    lines.append(f"\n{len(report.tensors)} tensors, {report.samples} samples; own: given the float network's numbers")
    if any(t.rescaled for t in report.tensors):
        lines.append("*: the quantizer scaled channels, which has been taken back")
    if report.unmatched:
        lines.append(f"not in the float network: {', '.join(report.unmatched)}")
    return "\n".join(lines)


def _compared(t: TensorError) -> list[object]:
    name = f"{t.tensor}*" if t.rescaled else t.tensor
    sizes = [round(x, _DB) for x in (t.sqnr, t.steps, t.own_sqnr, t.own_steps, t.own_most)]
    return [name, t.operator, t.bits, *sizes, round(100 * t.clipped, _DB), round(100 * t.codes, 1)]
