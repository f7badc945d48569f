"""Reads and writes TPU-MLIR's text tables: calibration tables, those of QAT, and quantize tables (qtables).

A row of a calibration table is `op_name threshold min max`; of QAT also `NAME_weight N s1..sN N z1..zN`, below a first
line `# work_mode: ..`; below a line `#int4_op` stand names alone.  A row of a qtable is `op_name mode`.  `#` begins a
comment.  Operators are called after the tensor that they write and their type (`122_Conv`).

Decides: that ranges are taken as thresholds around zero, as that compiler's default is, unless a configuration says
`symmetric = false`; then min and max are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from codegen.errors import TableLineBad
from codegen.quantizer.config.config import QuantConfig
from codegen.quantizer.config.findings import Findings
from codegen.quantizer.config.levels import LAYER_NAME, Level, in_order, literal
from codegen.quantizer.foreign.ranged import Ranged, around_zero, ranged_config

WORK_MODES = ("QAT_all_int8", "QAT_mix_prec")
_WORK_MODE = "# work_mode:"
_INT4 = "#int4_op"
_FLOATS = ("F32", "F16", "BF16")
_MODES: Mapping[str, Mapping[str, object]] = {
    "INT8": {},
    "UINT8": {"signed": False},
    "INT16": {"bits": 16},
    "INT4": {"bits": 4},
    **{mode: {"keep_float": True} for mode in _FLOATS},
}
_INT4_NOTE = "int4 operators have weights of 4 bits; their results keep 8"
_WEIGHTS_NOTE = "scales of weights with zero points are computed from the weights themselves"
_WEIGHT = "_weight"
_FLOAT_NOTE = "F16 and BF16 are held as float32"


@dataclass
class _Rows:
    """What the rows of a file say so far."""

    findings: Findings
    ranges: list[tuple[Ranged, str]] = field(default_factory=list)
    int4: list[str] = field(default_factory=list)
    modes: list[tuple[str, str, str]] = field(default_factory=list)
    weights: list[tuple[str, tuple[float, ...], str]] = field(default_factory=list)
    shifted: bool = False
    names: set[str] = field(default_factory=set)
    in_int4: bool = False

    def bad(self, place: str, found: str) -> None:
        self.findings.add([TableLineBad(found, where=place)])

    def named(self, name: str, place: str) -> str:
        if name in self.names:
            self.bad(place, f"{name!r} stands twice")
        self.names.add(name)
        return name


def is_table(text: str) -> bool:
    """Whether a text is one of these tables: its first row has two or four fields, or names are below `#int4_op`."""
    row = next((line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")), [])
    return len(row) in (2, 4) or (len(row) == 1 and _INT4 in text)


def parse_table(text: str, file: str) -> QuantConfig:
    """The configuration in a table; LAM-QUANT-008 for a line that the format does not have, -006 with all of them."""
    rows = _Rows(Findings(file))
    for number, line in enumerate(text.splitlines(), 1):
        _read(line.strip(), f"{file}, line {number}", rows)
    if rows.modes and rows.ranges:
        rows.bad(file, "rows of a calibration table and of a quantize table in one file")
    rows.findings.end()
    return _config(rows, file)


def _read(line: str, place: str, rows: _Rows) -> None:
    if line.startswith("#"):
        rows.in_int4 = rows.in_int4 or line.replace(" ", "") == _INT4
        if line.startswith(_WORK_MODE):
            _check_mode(line.removeprefix(_WORK_MODE), place, rows)
        return
    fields = line.split()
    readers: Mapping[int, Callable[[list[str], str, _Rows], None]] = {1: _read_int4, 2: _read_mode, 4: _read_range}
    if len(fields) > 4:
        _read_weights(fields, place, rows)
    elif fields:
        readers.get(len(fields), _refuse)(fields, place, rows)


def _refuse(fields: list[str], place: str, rows: _Rows) -> None:
    rows.bad(place, f"{len(fields)} fields; a row is `op_name threshold min max`, or `op_name mode`")


def _check_mode(text: str, place: str, rows: _Rows) -> None:
    mode = text.partition("//")[0].strip()
    if mode not in WORK_MODES:
        rows.bad(place, f"the work_mode {mode!r} is not one of {', '.join(WORK_MODES)}")


def _read_int4(fields: list[str], place: str, rows: _Rows) -> None:
    if rows.in_int4:
        rows.int4.append(fields[0])
    else:
        rows.bad(place, f"a name alone, {fields[0]!r}, above any line {_INT4}")


def _read_mode(fields: list[str], place: str, rows: _Rows) -> None:
    name, mode = fields
    if mode.upper() in _MODES:
        rows.modes.append((rows.named(name, place), mode.upper(), place))
    else:
        rows.bad(place, f"the mode {mode!r} is not one of {', '.join(_MODES)}")


def _read_range(fields: list[str], place: str, rows: _Rows) -> None:
    numbers = [_number(text) for text in fields[1:]]
    ranged = Ranged(rows.named(fields[0], place), numbers[1], numbers[2], numbers[0])
    if ranged.problem:
        rows.bad(place, f"{' '.join(fields[1:])}: {ranged.problem}")
    else:
        rows.ranges.append((ranged, place))


def _read_weights(fields: list[str], place: str, rows: _Rows) -> None:
    """A row of scales and zero points: as many as it says, and the scales above zero."""
    count = int(fields[1]) if fields[1].isascii() and fields[1].isdigit() and len(fields[1]) < 8 else 0
    scales, zeros = fields[2 : 2 + count], fields[3 + count :]
    sound = len(scales) == len(zeros) == count > 0 and fields[2 + count] == fields[1]
    if not sound or not all(_number(s) > 0 for s in scales) or not all(_number(z).is_integer() for z in zeros):
        rows.bad(place, f"{len(fields)} fields; a row of weights is `name N`, N scales above zero, `N`, N zero points")
    name = rows.named(fields[0], place)
    if any(_number(z) != 0 for z in zeros):
        rows.shifted = True
    else:
        rows.weights.append((name.removesuffix(_WEIGHT), tuple(map(_number, scales)), place))


def _number(text: str) -> float:
    """A number in digits; NaN for anything else."""
    try:
        found = math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) else math.nan


def _config(rows: _Rows, file: str) -> QuantConfig:
    levels = [_weights_of_4(name, file) for name in rows.int4]
    levels += [level for name, mode, place in rows.modes for level in _of_mode(name, mode, place)]
    levels += [_scales_of(*row) for row in rows.weights]
    halves = any(mode in _FLOATS[1:] for _, mode, _ in rows.modes)
    said = [(rows.int4, _INT4_NOTE), (rows.shifted, _WEIGHTS_NOTE), (halves, _FLOAT_NOTE)]
    notes = [note for is_said, note in said if is_said]
    if not rows.ranges:
        return QuantConfig(levels=in_order(levels), notes=tuple(notes))
    return ranged_config(rows.ranges, [*around_zero(file), *levels], notes)


def _weights_of_4(name: str, place: str) -> Level:
    entry = f"{place} {name}"
    return Level(values={"bits": 4}, rank=LAYER_NAME, chosen=literal(name), role="weights", place=place, entry=entry)


def _scales_of(name: str, scales: tuple[float, ...], place: str) -> Level:
    values = {"scales": scales}
    return Level(values=values, rank=LAYER_NAME, chosen=literal(name), role="weights", place=place, entry=place)


def _of_mode(name: str, mode: str, place: str) -> Iterator[Level]:
    """The level of a quantize table's row; 16 bits and no sign are of what is computed."""
    values = _MODES[mode]
    if mode == "INT4":
        yield _weights_of_4(name, place)
    elif values:
        yield Level(values=values, rank=LAYER_NAME, chosen=literal(name), place=place, entry=place)


def written_table(ranges: Iterable[Ranged], bins: int, samples: int) -> str:
    """The text of a calibration table, seven decimals as that tool writes; names with blanks cannot be read back."""
    head = f"# histogram number: {bins}\n# sample number: {samples}\n# tune number: 0\n###\n"
    rows = "".join(f"{r.name} {_threshold(r):.7f} {r.low:.7f} {r.high:.7f}\n" for r in ranges)
    return f"{head}# op_name    threshold      min      max\n{rows}"


def _threshold(ranged: Ranged) -> float:
    return max(-ranged.low, ranged.high) if ranged.threshold is None else ranged.threshold
