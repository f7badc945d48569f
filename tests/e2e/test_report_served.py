"""`lamina report --serve`: the page over HTTP, for this machine alone, made again when its files change."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import codegen
from codegen.cli import main
from codegen.errors import CompileError
from tests.e2e.projects import DIGITS, TINY
from tests.support.browser import Browser
from tests.support.shared import ROOT


def _hears_interrupts() -> None:
    """A background process, and what it starts, has them ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def served(model: Path, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a report that is served, and the process that serves it."""
    argv = [sys.executable, "-m", "codegen", "report", str(model), "--serve", "--no-browser", "--no-chips", *words]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, preexec_fn=_hears_interrupts
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/", line)
            assert found, line + process.stderr.read()
            yield found[0], process
        finally:
            process.kill()


def answer(address: str, host: str | None = None) -> tuple[int, str]:
    """The status and the text of an answer."""
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as found:
            return found.status, found.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


def test_it_follows_the_model_file_and_ends_with_130(browser: Browser, tmp_path: Path) -> None:
    model = tmp_path / "net.onnx"
    shutil.copy(TINY, model)
    with served(model, "-t", "cortex-m4") as (address, process):
        browser.open(address)
        layers = "return document.querySelectorAll('#layers-0 tbody tr').length"
        small = browser.wait(layers)
        assert small == len(codegen.inspect(model).layers)
        shutil.copy(DIGITS, model)
        assert browser.wait(f"const n = (() => {{ {layers} }})(); return n !== {small} && n") == len(
            codegen.inspect(model).layers
        )
        model.write_bytes(DIGITS.read_bytes()[:200])
        said = "return document.title === 'No report' && document.querySelector('.rules').textContent"
        assert "LAM-IMPORT-" in browser.wait(said)
        shutil.copy(TINY, model)
        assert browser.wait(layers) == small
        assert browser.said() == []
        assert {url.split("?")[0] for url in browser.asked() if not url.startswith("data:")} == {
            address,
            f"{address}changes",
        }
        browser.open("about:blank")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr is not None
        assert process.stderr.read().strip() == "stopped"


def test_nobody_else_is_answered() -> None:
    with served(TINY) as (address, _):
        port = address.split(":")[-1].strip("/")
        assert answer(address)[0] == 200
        assert answer(address, f"localhost:{port}")[0] == 200
        assert answer(address, f"evil.example:{port}") == (403, "")
        assert answer(f"{address}changes", "evil.example") == (403, "")
        assert answer(f"{address}etc/passwd") == (404, "")
        assert answer(f"{address}../pyproject.toml") == (404, "")
        assert answer(f"{address}changes?since=0") == (200, "1")
        assert answer(f"{address}changes") == (200, "1")


def test_a_port_that_is_taken_is_refused_with_an_id(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["report", str(TINY), "--serve", "--no-browser", "--port", str(port)]) == 1
        assert f"LAM-API-014 127.0.0.1:{port}" in capsys.readouterr().err
        with pytest.raises(CompileError) as caught:
            codegen.serve_report(TINY, port=port, browser=False)
        assert caught.value.code == "LAM-API-014"


@pytest.mark.parametrize(
    ("words", "id"),
    [
        ([str(TINY)], "LAM-CLI-001"),
        ([str(TINY), "--serve", "-o", "r.html"], "LAM-CLI-001"),
        ([str(TINY), "--serve", "--json"], "LAM-CLI-001"),
        ([str(TINY), "--port", "80", "-o", "r.html"], "LAM-CLI-001"),
        ([str(TINY), "--serve", "--port", "65536"], "LAM-CLI-001"),
        ([str(TINY), "--serve", "--port", "-1"], "LAM-CLI-001"),
        ([str(TINY), "--serve", "--port", "http"], "LAM-CLI-001"),
        (["no.onnx", "--serve"], "LAM-IMPORT-002"),
        ([str(TINY), "--serve", "-t", "no-such-chip"], "LAM-TARGET-001"),
        ([str(TINY), "--serve", "-t", "host,host"], "LAM-IMPORT-030"),
        ([str(TINY), "--serve", "--against", "no.json"], "LAM-IMPORT-030"),
        ([str(TINY), "--serve", "--float-model", "f.onnx"], "LAM-IMPORT-030"),
    ],
)
def test_what_cannot_be_served_is_refused_before_a_browser_opens(
    words: list[str], id: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.get", lambda: pytest.fail("a browser was opened"))
    assert main(["report", "--no-chips", *words]) == 2
    assert id in capsys.readouterr().err


def test_a_port_from_python_that_is_none_is_refused() -> None:
    for port in (-1, 65536, 1 << 40):
        with pytest.raises(CompileError) as caught:
            codegen.serve_report(TINY, port=port, browser=False)
        assert caught.value.code == "LAM-API-014"
