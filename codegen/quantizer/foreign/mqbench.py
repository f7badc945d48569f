"""Reads MQBench's tables of clip ranges (`*_clip_ranges.json`), one form per backend that it deploys to.

Decides: what each backend's numbers are: a range, a scale, or a threshold.  Names of `sophgo_tpu` end in the tensor's
type and, in newer versions, in its width (`122_Conv_8`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from codegen.quantizer.config.config import QuantConfig
from codegen.quantizer.config.findings import Findings
from codegen.quantizer.config.kinds import is_number
from codegen.quantizer.foreign.ranged import Ranged, around_zero, ranged_config

Values = Mapping[str, object]
_Entry = Callable[[str, object], Ranged | None]
_WIDTH = re.compile(r"_(4|8)$")
_WEIGHTS_NOTE = "scales of weights are computed from the weights themselves"


def is_mqbench(document: Values) -> bool:
    """Whether a JSON document is such a table."""
    return bool(_BACKENDS.keys() & document.keys()) or "activation_encodings" in document


def parse_mqbench(document: Values, file: str) -> QuantConfig:
    """The ranges as a configuration; LAM-QUANT-002 to -004 for what the format does not have, -006 with all of it."""
    findings = Findings(file)
    known = (*_BACKENDS, "activation_encodings", "param_encodings", "w_qscheme", "a_qscheme")
    for key in document.keys() - set(known):
        findings.unknown("", key, known)
    ranges: list[tuple[Ranged, str]] = []
    weights: list[str] = []
    for place, table, entry in _tables(document, findings):
        for name, value in table.items():
            at = f"{place}.{name}"
            if isinstance(value, dict) and isinstance(value.get("step"), list):
                weights.append(name)
            else:
                ranges += [(found, findings.at(at)) for found in _sound(entry, name, value, at, findings)]
    findings.end()
    centred = [] if _ASYMMETRIC & document.keys() else list(around_zero(file))
    return ranged_config(ranges, centred, [_WEIGHTS_NOTE] if weights or document.get("param_encodings") else [])


def _tables(document: Values, findings: Findings) -> Iterator[tuple[str, Values, _Entry]]:
    """The tables of tensors with what reads one of their values."""
    for backend, entry in _BACKENDS.items():
        if backend in document:
            table, place = findings.table(document, backend, ""), backend
            if backend == "tensorrt":
                table, place = findings.table(table, "blob_range", "tensorrt."), "tensorrt.blob_range"
            yield place, table, entry
    if "activation_encodings" in document:
        yield "activation_encodings", findings.table(document, "activation_encodings", ""), _encoding


def _sound(entry: _Entry, name: str, value: object, place: str, findings: Findings) -> Iterator[Ranged]:
    found = entry(name, value)
    if found is None:
        findings.bad(place, f"{value!r} is not what its backend's table has", "write the table anew with MQBench")
    elif found.problem:
        findings.bad(place, found.problem)
    else:
        yield found


def _number(value: object, key: str) -> float | None:
    number = value.get(key) if isinstance(value, dict) else None
    return float(number) if is_number(number) else None  # type: ignore[arg-type]


def _reach(name: str, value: object) -> Ranged | None:
    """One number: how far the range reaches on both sides."""
    return Ranged(name, -float(value), float(value)) if is_number(value) else None  # type: ignore[arg-type]


def _thresholded(name: str, value: object) -> Ranged | None:
    """A threshold with the least and the greatest number."""
    low, high, threshold = (_number(value, key) for key in ("min", "max", "threshold"))
    width = _WIDTH.search(name)
    plain, bits = (name[: width.start()], int(width[1])) if width else (name, None)
    if low is None or high is None or threshold is None:
        return None
    return Ranged(plain, low, high, threshold, 4 if bits == 4 else None)


def _powers(name: str, value: object) -> Ranged | None:
    """A scale, which is a power of two."""
    scale = _number(value, "scale")
    return None if scale is None else Ranged(name, -128 * scale, 127 * scale, 128 * scale)


def _stepped(name: str, value: object) -> Ranged | None:
    """A range with its width."""
    low, high = _number(value, "min"), _number(value, "max")
    bits = value.get("bit", 8) if isinstance(value, dict) else None
    if low is None or high is None or bits not in (2, 3, 4, 5, 6, 7, 8, 16):
        return None
    return Ranged(name, low, high, bits=None if bits == 8 else bits)


def _encoding(name: str, value: object) -> Ranged | None:
    """A list of one range with its width."""
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], dict):
        return None
    return _stepped(name, {**value[0], "bit": value[0].get("bitwidth", 8)})


_BACKENDS: Mapping[str, _Entry] = {
    "tensorrt": _reach,
    "ppl-cuda": _reach,
    "ppl": _stepped,
    "vitis": _powers,
    "sophgo_tpu": _thresholded,
}
_ASYMMETRIC = {"ppl", "activation_encodings"}
"""Backends whose integers have zero points."""
