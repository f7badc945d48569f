"""Logs of a board's terminal: noise, damage, resets, and what is no log of this firmware."""

from __future__ import annotations

import functools
import operator
from pathlib import Path

import pytest

from codegen.api import LogCheck, verify_log
from codegen.cli import main
from codegen.errors import (
    CompileError,
    LogContradicts,
    LogIncomplete,
    LogOfAnother,
    LogUnreadable,
    LogWithoutBegin,
    LogWithoutTrace,
)
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from codegen.resources import resource_dir
from codegen.verbs.verify_log import _expected

TINY = resource_dir("examples") / "tiny" / "tiny_qdq.onnx"
DIGITS = resource_dir("examples") / "digits" / "digits_qdq.onnx"


def sentence(*words: str) -> str:
    body = ",".join(("LAM", *words))
    return f"${body}*{functools.reduce(operator.xor, body.encode()):02x}"


def begin(made: Compiled, **other: str) -> str:
    ids = made.manifest["selftest"]
    assert isinstance(ids, dict)
    said = {
        "name": made.program.name,
        **ids,
        "model": str(made.manifest["model_sha256"])[:16],
        "version": str(made.manifest["version"]),
        "target": "host",
        "requant": "single",
        "vectors": "0002",
        **other,
    }
    return sentence("B", "1", *said.values())


def lines_of(made: Compiled) -> list[str]:
    """What a board says that is right."""
    rest = [sentence(x.kind, *(f"{n:04x}" for n in x.key), f"{x.crc:08x}") for x in _expected(made, 2)]
    return [begin(made), *rest, sentence("E", "0000")]


MADE = compile_file(TINY, Options(name="net"))
LINES = lines_of(MADE)


def checked(folder: Path, text: str) -> LogCheck:
    log = folder / "board.log"
    log.write_bytes(text.encode())
    return verify_log(TINY, log)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "", "\r\n\r\n"])
@pytest.mark.parametrize("before", ["", "[00:01.250] <inf> main: ", "\x1b[32m", "\x00\xff"])
def test_noise_around_lines_is_passed_over(end: str, before: str, tmp_path: Path) -> None:
    found = checked(tmp_path, "boot v1.2 $LAMP on\n" + "".join(f"{before}{line}{end}" for line in LINES) + "idle\n")
    assert (found.equal, found.missing, found.damaged, found.starts) == (True, 0, 0, 1)


def test_a_line_that_comes_twice_counts_once(tmp_path: Path) -> None:
    found = checked(tmp_path, "\n".join(line for line in LINES for _ in range(2)))
    assert (found.equal, found.starts, found.tensors_checked) == (True, 1, 8)


@pytest.mark.parametrize("cut", range(1, len(LINES)))
def test_the_last_whole_start_counts(cut: int, tmp_path: Path) -> None:
    """A reset in the middle, before and behind a whole start."""
    for text, starts in (([*LINES[:cut], LINES[cut][:9], *LINES], 1 + (cut > 1)), ([*LINES, *LINES[:cut]], 2)):
        found = checked(tmp_path, "\n".join(text))
        assert (found.equal, found.starts) == (True, starts)


@pytest.mark.parametrize("at", range(1, len(LINES)))
def test_a_line_that_is_cut_off_or_damaged_is_missed(at: int, tmp_path: Path) -> None:
    for line in (LINES[at][:-4], LINES[at].replace(",0", ",1", 1), ""):
        with pytest.raises(LogIncomplete):
            checked(tmp_path, "\n".join([*LINES[:at], line, *LINES[at + 1 :]]))


@pytest.mark.parametrize("at", [i for i, line in enumerate(LINES) if line[5] in "ITO"])
def test_the_line_that_differs_is_the_one_named(at: int, tmp_path: Path) -> None:
    kind, run, index, crc = LINES[at][5:].split("*")[0].split(",")
    wrong = sentence(kind, run, index, f"{int(crc, 16) ^ 1:08x}")
    found = checked(tmp_path, "\n".join([*LINES[:at], wrong, *LINES[at + 1 :]])).first_difference
    names = {"I": "image", "T": MADE.program.tensors[int(index, 16)].value, "O": "mean"}
    assert (found.kind[0].upper(), found.run, found.tensor) == (kind, int(run, 16), names[kind])
    assert found.meaning


def test_lines_that_miss_before_the_first_difference_are_said(tmp_path: Path) -> None:
    at = max(i for i, line in enumerate(LINES) if line[5] == "T")
    text = "\n".join([*LINES[:5], *LINES[6:at], sentence("T", "0001", "0001", "00000000"), *LINES[at + 1 :]])
    found = checked(tmp_path, text).first_difference
    assert "1 lines before it are missing" in found.meaning


def others() -> dict[str, tuple[type[CompileError], str]]:
    return {
        "another name": (LogOfAnother, begin(MADE, name="Not_A_Name", code="0" * 16)),
        "another model": (LogOfAnother, begin(MADE, code="0" * 16, model="1" * 16)),
        "another target": (LogOfAnother, begin(MADE, code="0" * 16, target="avr")),
        "another version": (LogOfAnother, begin(MADE, code="0" * 16, version="9.9")),
        "other options": (LogOfAnother, begin(MADE, code="0" * 16)),
        "other weights": (LogOfAnother, begin(MADE, weights="0" * 16)),
        "no vectors": (LogIncomplete, begin(MADE, vectors="0000")),
        "another format": (LogWithoutBegin, LINES[0].replace("B,1,", "B,2,")),
        "too many vectors": (LogWithoutBegin, begin(MADE, vectors="ffff")),
    }


@pytest.mark.parametrize("case", others())
def test_a_log_of_other_firmware_is_refused(case: str, tmp_path: Path) -> None:
    error, first = others()[case]
    with pytest.raises(error):
        checked(tmp_path, "\n".join([first, *LINES[1:]]))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", LogWithoutTrace),
        (" \r\n\r\n", LogWithoutTrace),
        ("boot\nready\n", LogWithoutTrace),
        ("\n".join(line[:-3] for line in LINES), LogWithoutTrace),
        ("$LAM,T,0000,0000,12345678*", LogWithoutTrace),
        ("\n".join(LINES[1:]), LogWithoutBegin),
        ("\n".join([*LINES, sentence("T", "0000", "0000", "00000000")]), LogContradicts),
        (LINES[0], LogIncomplete),
        ("\n".join(LINES[:-1]), LogIncomplete),
    ],
)
def test_what_is_no_whole_log_is_refused(text: str, error: type[CompileError], tmp_path: Path) -> None:
    with pytest.raises(error):
        checked(tmp_path, text)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(LogUnreadable):
            verify_log(TINY, path)


def test_the_command_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "board.log"
    log.write_text("\n".join(LINES))
    assert main(["verify", str(TINY), "--crc", str(log)]) == 0
    assert "equal to the bit: 8 checksums of 2 runs" in capsys.readouterr().out
    assert main(["verify", str(DIGITS), "--crc", str(log)]) == 1
    assert "LAM-VERIFY-004" in capsys.readouterr().err
    for said in (
        ["--input", "x.npz"],
        ["--samples", "3"],
        ["--seed", "0"],
        ["--config", "x.toml"],
        ["--reference", "tflm"],
    ):
        assert main(["verify", str(TINY), "--crc", str(log), *said]) == 2
        assert f"leave out {said[0]}" in capsys.readouterr().err
    wrong = [*LINES[:2], sentence("W", "0001", "00000000"), *LINES[3:-1], sentence("E", "0001")]
    log.write_text("\n".join(wrong))
    assert main(["verify", str(TINY), "--crc", str(log)]) == 1
    said = capsys.readouterr().out
    assert "weights in the board's memory are not those compiled: pool" in said
    assert "the self-test gave 1" in said
