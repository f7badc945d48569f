"""Reads ONNX Runtime's TensorQuantOverrides: by tensor a list of one table, or of one table per channel.

Decides: what of an override is a key of ours.  A scale with its zero point is the range that its integers span.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.errors import NotInIntegers, QuantKeysConflict
from codegen.quantizer.config.config import QuantConfig
from codegen.quantizer.config.findings import Findings
from codegen.quantizer.config.kinds import FLAG, Kind, is_number, one_of, real, whole
from codegen.quantizer.config.levels import TENSOR, Level, in_order, literal
from codegen.quantizer.foreign.ranged import Ranged

Values = Mapping[str, object]
OPTION = "TensorQuantOverrides"
_TYPES: Mapping[str, tuple[int, bool]] = {
    "QInt8": (8, True),
    "QUInt8": (8, False),
    "QInt16": (16, True),
    "QUInt16": (16, False),
    "QInt4": (4, True),
    "QUInt4": (4, False),
}
_NUMBER = Kind("a number", lambda v: _float(v))
_KEYS: Mapping[str, Kind] = {
    "quant_type": Kind(
        ", ".join(_TYPES), lambda v: one_of(*_TYPES).read(v.removeprefix("QuantType.") if isinstance(v, str) else v)
    ),
    "symmetric": FLAG,
    "reduce_range": FLAG,
    "rmin": _NUMBER,
    "rmax": _NUMBER,
    "scale": real(1e-38, 3e38, "a number above zero"),
    "zero_point": whole(-(1 << 15), (1 << 16) - 1),
    "axis": whole(-8, 7),
    "convert": Kind("a table", lambda v: v),
}
_WITH_SCALE = ("symmetric", "reduce_range", "rmin", "rmax")


def _float(value: object) -> float:
    if not is_number(value):
        raise ValueError
    return float(value)  # type: ignore[arg-type]


def is_overrides(document: Values) -> bool:
    """Whether a JSON document is such overrides: alone, or as an option of that quantizer."""
    inner = document.get(OPTION, document)
    return isinstance(inner, dict) and bool(inner) and all(isinstance(v, list) for v in inner.values())


def parse_overrides(document: Values, file: str) -> QuantConfig:
    """The overrides as levels of tensors; LAM-QUANT-002 to -005 and -010 for what is wrong, -006 with all of it."""
    findings = Findings(file)
    place = f"{OPTION}." if OPTION in document else ""
    levels: list[Level] = []
    notes: list[str] = []
    tensors = findings.table(document, OPTION, "") if place else document
    for name, tables in tensors.items():
        at = f"{place}{name}"
        read = _read(tables, at, findings)
        for table in read[:1]:
            levels += _levels(name, table, findings.at(at), per_channel="axis" in table)
            notes += _notes(name, read)
    findings.end()
    return QuantConfig(levels=in_order(levels), notes=tuple(notes))


def _read(tables: object, place: str, findings: Findings) -> list[dict[str, Any]]:
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        findings.bad(place, "is not a list of one table, or of one per channel")
        return []
    read = [findings.values(table, _KEYS, f"{place}[{i}].") for i, table in enumerate(tables)]
    if len(read) > 1 and "axis" not in tables[0]:
        findings.missing(f"{place}[0].axis", "several tables are one per channel: the key is missing")
    findings.add(_conflicts(read, findings.at(place)))
    return read


def _conflicts(read: list[dict[str, Any]], place: str) -> list[Any]:
    found: list[Any] = []
    for table in read:
        if ("scale" in table) != ("zero_point" in table):
            found.append(QuantKeysConflict("scale and zero_point come together", where=place))
        others = [key for key in _WITH_SCALE if key in table and "scale" in table]
        if others:
            found.append(QuantKeysConflict(f"scale and zero_point go without {', '.join(others)}", where=place))
        if ("rmin" in table) != ("rmax" in table):
            found.append(QuantKeysConflict("rmin and rmax come together", where=place))
        span = _span(table)
        outside = "scale" in table and not span.low <= 0 <= span.high
        problem = "the zero_point is no integer of the type" if outside else span.problem
        found += [NotInIntegers(problem, where=place)] if problem else []
    if any("convert" in table for table in read):
        found.append(NotInIntegers("convert: a tensor has one type, which all of its readers read", where=place))
    return found


def _span(table: Mapping[str, Any]) -> Ranged:
    """The range that a table gives; nothing but zero where it gives none."""
    if "scale" in table and "zero_point" in table:
        bits, signed = _TYPES[table.get("quant_type", "QInt8")]
        least = -(1 << (bits - 1)) if signed else 0
        low = table["scale"] * (least - table["zero_point"])
        return Ranged("", low, low + table["scale"] * ((1 << bits) - 1))
    return Ranged("", table.get("rmin", 0.0), table.get("rmax", 0.0))


def _levels(name: str, table: Mapping[str, Any], place: str, per_channel: bool) -> list[Level]:
    values: dict[str, object] = {"granularity": (True, 0)} if per_channel else {}
    if "quant_type" in table:
        bits, signed = _TYPES[table["quant_type"]]
        values |= {"bits": bits - table.get("reduce_range", False), "signed": signed}
    elif table.get("reduce_range", False):
        values["bits"] = 7
    if "symmetric" in table or "scale" in table:
        values["symmetric"] = table.get("symmetric", False)
    span = _span(table)
    if not span.is_empty and not per_channel:
        values["range"] = (min(span.low, 0.0), max(span.high, 0.0))
    return [Level(values=values, rank=TENSOR, chosen=literal(name), place=place, entry=place)] if values else []


def _notes(name: str, read: list[dict[str, Any]]) -> list[str]:
    if "axis" not in read[0]:
        return []
    found = [f"{name}: channels are those of the layer's output, whatever axis is said"]
    if any("scale" in t or "rmin" in t for t in read):
        found.append(f"{name}: scales of weights are computed from the weights themselves")
    return found
