"""Programs of firmware ecosystems that are not installed: each does what the real one does with its files, here.

A command of a page runs as it is written when these come first on the PATH.  Zephyr and ESP-IDF are folders laid out
as theirs.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.shared import ROOT
from tests.support.tools import installed

HERE = Path(__file__).resolve().parent
PROGRAMS = {
    "arduino-cli": "arduino_cli",
    "arecord": "arecord",
    "cbuild": "cmsis_toolbox",
    "compote": "compote",
    "cpackget": "cmsis_toolbox",
    "idf.py": "idf_py",
    "pio": "pio",
    "west": "west",
}
REAL = {"compote"}
"""Those of Python packages, which are themselves where the tests' environment has them."""
_WRAPPER = """#!/bin/sh
PYTHONPATH={root} exec {python} -m tests.stand_ins.{module} {name} "$@"
"""


def written(folder: Path) -> Path:
    """The folder, with a wrapper for each program."""
    folder.mkdir()
    for name, module in PROGRAMS.items():
        path = folder / name
        real = installed(name) if name in REAL else None
        text = _WRAPPER.format(root=ROOT, python=sys.executable, module=module, name=name)
        path.write_text(f'#!/bin/sh\nexec {real} "$@"\n' if real else text)
        path.chmod(0o755)
    return folder
