"""The bits that layers were given and the choice there was: records, and their text."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.records import record
from codegen.report.table import text_table

_BYTE = 8


@record(kw_only=True)
class MixedLayer:
    """A layer's bits; 0 is as it was asked for."""

    name: str
    activations: int
    weights: int


@record(kw_only=True)
class MixedPoint:
    """One candidate: how many layers have 16-bit results, and how many fewer than 8 bits of weights.

    `expected` is the SQNR in dB that the layers' own losses add up to, `sqnr` what the judge found.  The bytes are the
    compiler's; None where it refused the candidate, or where nothing was counted.
    """

    wide: int
    narrow: int
    expected: float
    sqnr: float
    arena_bytes: int | None
    flash_bytes: int | None
    instructions: int | None
    fits: bool


@record(kw_only=True)
class MixedReport:
    """The candidates along the front, the chosen one among them, and what each layer got.  `limits` by cost."""

    points: tuple[MixedPoint, ...]
    chosen: MixedPoint
    layers: tuple[MixedLayer, ...]
    limits: Mapping[str, int]


def mixed_text(report: MixedReport) -> str:
    """The front, and the layers that have other bits than 8."""
    counted = any(p.instructions is not None for p in report.points)
    headers = [
        "",
        "16 bits",
        "< 8 bits",
        "expected dB",
        "outputs dB",
        "arena",
        "flash",
        *(["instructions"] if counted else []),
    ]
    rows = [_cells(p, p == report.chosen, counted) for p in report.points]
    lines = [text_table(headers, rows, least=("expected dB",))]
    if report.limits:
        lines.append(f"at most: {', '.join(f'{name} {n}' for name, n in report.limits.items())}")
    wide = [x.name for x in report.layers if x.activations > _BYTE]
    narrow = [f"{x.name} {x.weights}" for x in report.layers if 0 < x.weights < _BYTE]
    lines += [f"16 bits: {', '.join(wide)}"] if wide else []
    return "\n".join([*lines, *([f"weights of fewer bits: {', '.join(narrow)}"] if narrow else [])])


def _cells(p: MixedPoint, chosen: bool, counted: bool) -> list[object]:
    mark = "chosen" if chosen else "" if p.fits else "too much"
    figures = [p.wide, p.narrow, round(p.expected, 2), round(p.sqnr, 2), p.arena_bytes, p.flash_bytes]
    return [mark, *figures, *([p.instructions] if counted else [])]
