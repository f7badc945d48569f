"""Programs for an ATmega2560 on simavr.

simavr, because QEMU 7.2 never returns from libgcc's 16-bit products (a skipped RET ends its block).
"""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

from tests.support.tools import require_tool

_RESULT = re.compile(r"vectors right|wrong|self-test gave|failed|\$LAM,E,.*\*..|^(\x1b\[\d+m)*end\b", re.MULTILINE)
_PATIENCE_S = 120.0


def on_simavr(program: Path) -> str:
    """What the chip sends over its UART, up to a result, or what it has sent when patience ends."""
    require_tool("simavr", "stdbuf")
    log = program.with_suffix(".log")
    argv = ["stdbuf", "-oL", "simavr", "-m", "atmega2560", "-f", "16000000", str(program)]
    with open(log, "wb") as out, subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT) as chip:
        try:
            end = time.monotonic() + _PATIENCE_S
            while (
                not _RESULT.search(log.read_text(errors="replace")) and time.monotonic() < end and chip.poll() is None
            ):
                time.sleep(0.05)
        finally:
            chip.kill()
    return log.read_text(errors="replace")
