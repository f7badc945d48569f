"""Bars: on a terminal, after two seconds, and never elsewhere."""

from __future__ import annotations

import threading
import time

import pytest

from codegen.cli import progress


def test_nothing_is_shown_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY_S", 0.0)
    with progress.Progress("working") as bar:
        bar(1, 2)
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_a_bar_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY_S", 0.0)
    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with progress.Progress("working") as bar:
        bar(1, 2)
        end = time.monotonic() + 10
        while bar._bar is None and time.monotonic() < end:
            time.sleep(0.01)
        bar(2, 2)
    said = capsys.readouterr()
    assert said.out == ""
    assert "working" in said.err


def test_short_work_shows_nothing_even_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    before = threading.active_count()
    with progress.Progress("working") as bar:
        bar(1, 1)
    assert capsys.readouterr() == ("", "")
    assert threading.active_count() <= before + 1


def test_quiet_shows_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "DELAY_S", 0.0)
    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    with progress.Progress("working", quiet=True):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
