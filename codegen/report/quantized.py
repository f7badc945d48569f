"""What a quantizer did, as a record: every tensor and every weight with its integers, and how good the network is.

Decides: the columns.  The same record is printed, written beside the model, and given to Python.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.records import record
from codegen.report.columns import score_text
from codegen.report.mixed import MixedReport, mixed_text
from codegen.report.table import text_table


@record(kw_only=True)
class QuantizedTensor:
    """One tensor that the network is given or computes.

    `low` and `high` are what its integers hold; `clipped` is the share of the float numbers beyond, `codes` the share
    of the integers that occur, `sqnr` in dB and `error`, a root of mean squares, what has accumulated there.
    """

    tensor: str
    layer: str
    operator: str
    bits: int
    scale: float
    zero_point: int
    low: float
    high: float
    method: str
    clipped: float
    codes: float
    sqnr: float
    error: float


@record(kw_only=True)
class QuantizedWeight:
    """One constant: `scales` is how many it has, `sqnr` in dB that of its own numbers."""

    tensor: str
    layer: str
    operator: str
    role: str
    bits: int
    scales: int
    method: str
    sqnr: float


@record(kw_only=True)
class Scored:
    """Scores in `unit`s, of the quantized network on `engine` and of the float one; `drop` is in points.

    A point is a hundredth of a share, an area or a rate, and one of any other unit.

    `missed`: more is lost than was `allowed`.
    """

    metric: str
    samples: int
    score: float
    unit: str
    engine: str
    float_score: float
    drop: float
    allowed: float | None
    missed: bool


@record(kw_only=True)
class QuantStage:
    """A stage of the recipe, and the SQNR in dB that it came to; the one before was kept where this was not better."""

    name: str
    sqnr: float
    kept: bool


@record(kw_only=True)
class QuantReport:
    """What was quantized, by which samples, and how good it is.

    `quick_sqnr` is of real numbers rounded as integers hold them; `sqnr` of the integer network on `engine`, None where
    it could not be compiled, and `refusal` says why.  `judged` samples set no range.  `mixed`: which bits layers got;
    `stages`: what the recipe tried.
    """

    model: str
    samples: int
    judged: int
    seed: int
    quick_sqnr: float | None
    sqnr: float | None
    engine: str
    refusal: str
    scored: Scored | None
    tensors: tuple[QuantizedTensor, ...]
    weights: tuple[QuantizedWeight, ...]
    stay_float: tuple[str, ...]
    notes: tuple[str, ...]
    mixed: MixedReport | None = None
    stages: tuple[QuantStage, ...] = ()


def quantized_text(report: QuantReport) -> str:
    """The report for a terminal."""
    chosen = "" if report.mixed is None else mixed_text(report.mixed)
    parts = [_tensors(report.tensors), _weights(report.weights), chosen, _stages(report.stages), _verdict(report)]
    if report.stay_float:
        parts.append(f"stays float: {', '.join(report.stay_float)}")
    return "\n\n".join([*filter(None, parts), *(f"note: {note}" for note in report.notes)])


def _tensors(rows: Sequence[QuantizedTensor]) -> str:
    headers = ["tensor", "operator", "bits", "range", "zero", "SQNR dB", "error", "clipped", "codes", "method"]
    cells = [
        (
            r.tensor,
            r.operator,
            r.bits,
            f"{r.low:.4g} .. {r.high:.4g}",
            r.zero_point,
            f"{r.sqnr:.1f}",
            f"{r.error:.3g}",
            f"{r.clipped:.2%}",
            f"{r.codes:.0%}",
            r.method,
        )
        for r in rows
    ]
    return text_table(headers, cells, keep=6, least=["method", "error", "zero"]) if rows else ""


def _weights(rows: Sequence[QuantizedWeight]) -> str:
    headers = ["constant", "operator", "role", "bits", "scales", "own SQNR dB", "method"]
    cells = [(r.tensor, r.operator, r.role, r.bits, r.scales, f"{r.sqnr:.1f}", r.method) for r in rows]
    return text_table(headers, cells, keep=4, least=["method"]) if rows else ""


def _stages(rows: Sequence[QuantStage]) -> str:
    cells = [(r.name, f"{r.sqnr:.1f}", "kept" if r.kept else "no better") for r in rows]
    return text_table(["what was tried", "outputs dB", ""], cells, keep=3) if rows else ""


def _verdict(report: QuantReport) -> str:
    lines = [f"{report.samples} samples set the ranges, {report.judged} others judge"]
    if report.quick_sqnr is not None:
        lines.append(f"SQNR of the outputs, rounded as the integers hold them: {report.quick_sqnr:.1f} dB")
    if report.sqnr is not None:
        lines.append(f"SQNR of the outputs of the integer network ({report.engine}): {report.sqnr:.1f} dB")
    if report.refusal:
        lines.append(f"the integer network does not compile: {report.refusal}")
    if report.scored is not None:
        lines.append(_score(report.scored))
    return "\n".join(lines)


def _score(scored: Scored) -> str:
    made = f"{score_text(scored.score, scored.unit)} ({scored.engine})"
    real = f"float {score_text(scored.float_score, scored.unit)}"
    text = f"{scored.metric} of {scored.samples} samples: {made}, {real}"
    if not scored.missed:
        return text
    return f"{text}: {scored.drop:.2f} points are lost, at most {scored.allowed:.2f} may be"
