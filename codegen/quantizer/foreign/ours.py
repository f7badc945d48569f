"""Lamina's own table of ranges: a configuration in TOML with a `[[tensor]]` for each.

Decides: what of a tensor is written, so that reading it back gives the same integers.
"""

from __future__ import annotations

from collections.abc import Iterable

from codegen.quantizer.config.levels import literal
from codegen.quantizer.foreign.ranged import Ranged

_HEAD = """\
# Ranges of tensors, for `lamina quantize --table-in`.  docs/quantizer_keys.md says what the keys are.
"""


def written_ranges(ranges: Iterable[Ranged]) -> str:
    """The text of the table; every number is written so that it reads back as itself."""
    return _HEAD + "".join(_entry(ranged) for ranged in ranges)


def _entry(ranged: Ranged) -> str:
    lines = ["", "[[tensor]]", f"name = {quoted(literal(ranged.name))}"]
    if ranged.symmetric is not None:
        lines.append(f"symmetric = {'true' if ranged.symmetric else 'false'}")
    if ranged.threshold is not None and ranged.symmetric:
        lines.append(f"threshold = {ranged.threshold!r}")
    else:
        lines.append(f"range = [{ranged.low!r}, {ranged.high!r}]")
    lines += [f"bits = {ranged.bits}"] if ranged.bits is not None else []
    lines += ["signed = false"] if ranged.signed is False else []
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A basic string of TOML: what is not plain ASCII, or has a meaning there, is escaped."""
    return '"' + "".join(_escaped(ch) for ch in text) + '"'


def _escaped(ch: str) -> str:
    if ch in '"\\' or not ch.isprintable() or not ch.isascii():
        code = ord(ch)
        return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"
    return ch
