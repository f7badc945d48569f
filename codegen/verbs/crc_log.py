"""Reads what a board has said of its self-test, among whatever else its terminal shows.

A line is `$LAM,` and a letter with numbers behind it, `*`, and in two digits the exclusive or of all signs between `$`
and `*`.  Twin of templates/selftest_log.j2.  What has another check sum counts as damaged, and is not looked at.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codegen.errors import LogContradicts, LogUnreadable, LogWithoutBegin, LogWithoutTrace
from codegen.options import MOST_VECTORS
from codegen.records import record

_LINE = re.compile(rb"\$(LAM,[A-Z](?:,[A-Za-z0-9._+-]+)+)\*([0-9a-f]{2})")
_BEGIN_WORDS = 9
_KINDS = {"W": (1, 1), "I": (2, 1), "T": (2, 1), "O": (2, 1), "F": (0, 1), "E": (0, 1)}
"""By letter, how many numbers say of what, and how many what it is."""
_MOST_BYTES = 64 << 20

Key = tuple[int, ...]


@record
class Firmware:
    """What a log's first line says of the firmware."""

    name: str
    code: str
    weights: str
    model: str
    version: str
    target: str
    requant: str
    vectors: int


@dataclass(slots=True)
class Session:
    """What a board said from one start to the next: numbers by letter and by what they are about."""

    firmware: Firmware | None
    said: dict[str, dict[Key, int]] = field(default_factory=lambda: {kind: {} for kind in _KINDS})
    contradiction: str = ""

    @property
    def ended(self) -> bool:
        """Whether the self-test came to its end."""
        return bool(self.said["E"])

    def take(self, kind: str, numbers: Key) -> None:
        """One more line; the first that says otherwise than an earlier one is noted."""
        of = _KINDS[kind][0]
        key, value = numbers[:of], numbers[of]
        first = self.said[kind].setdefault(key, value)
        if first != value and not self.contradiction:
            line = ",".join([kind, *(f"{number:04x}" for number in key)])
            self.contradiction = f"lines {line} of one start say {first:08x} and {value:08x}"


@record
class CrcLog:
    """The start that counts, how often the board started, and how many lines were damaged on their way."""

    firmware: Firmware
    session: Session
    starts: int
    damaged: int


def read_crc_log(path: Path) -> CrcLog:
    """The last start of the board that came to its end, else the last one; LAM-VERIFY-001, -002, -003, -006."""
    data = _content(path)
    lines = [words for found in _LINE.finditer(data) if (words := _checked(found))]
    damaged = data.count(b"$LAM,") - len(lines)
    if not lines:
        raise LogWithoutTrace(_nothing(data, damaged), where=str(path))
    sessions = list(_sessions(lines))
    known = [s for s in sessions if s.firmware is not None]
    if not known:
        raise LogWithoutBegin(f"{len(lines)} lines of a trace, and {damaged} damaged ones", where=str(path))
    chosen = next((s for s in reversed(known) if s.ended), known[-1])
    assert chosen.firmware is not None, "those without are left out"
    if chosen.contradiction:
        raise LogContradicts(chosen.contradiction, where=str(path))
    return CrcLog(chosen.firmware, chosen, len(known), damaged)


def _content(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES)
    except OSError as error:
        raise LogUnreadable(error.strerror or type(error).__name__, where=str(path)) from error


def _nothing(data: bytes, damaged: int) -> str:
    if not data.strip():
        return "is empty"
    kinds = f"{damaged} damaged lines of a trace" if damaged else "no line of a trace"
    return f"has {len(data)} bytes with {kinds}"


def _checked(found: re.Match[bytes]) -> list[str] | None:
    """The words behind `LAM`, None for a line that is damaged or means nothing."""
    if functools.reduce(operator.xor, found[1]) != int(found[2], 16):
        return None
    words = found[1].decode("ascii").split(",")[1:]
    return words if _is_known(words) else None


def _is_known(words: list[str]) -> bool:
    kind, numbers = words[0], words[1:]
    if kind == "B":
        whole = numbers[0] == "1" and len(numbers) == _BEGIN_WORDS and _are_numbers(numbers[-1:])
        return whole and int(numbers[-1], 16) <= MOST_VECTORS
    return kind in _KINDS and len(numbers) == sum(_KINDS[kind]) and _are_numbers(numbers)


def _are_numbers(words: list[str]) -> bool:
    return all(re.fullmatch(r"[0-9a-f]{4}|[0-9a-f]{8}", word) for word in words)


def _sessions(lines: list[list[str]]) -> Iterator[Session]:
    """The lines, parted where the board started; a first line that came twice is one start."""
    session, fresh = Session(None), True
    for kind, *words in lines:
        if kind != "B":
            session.take(kind, tuple(int(word, 16) for word in words))
            fresh = False
        elif not fresh or session.firmware is None or session.firmware != _firmware(words):
            yield session
            session, fresh = Session(_firmware(words)), True
    yield session


def _firmware(words: list[str]) -> Firmware:
    name, code, weights, model, version, target, requant, vectors = words[1:]
    return Firmware(name, code, weights, model, version, target, requant, int(vectors, 16))
