"""arduino-cli, by Debian's arduino-builder; uploading runs the sketch in simavr and prints what it sends."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.simavr import on_simavr

BUILD = Path("arduino-build").absolute()
CPU = {"arduino:avr:mega": "atmega2560"}
HARDWARE = ("-hardware", "/usr/share/arduino/hardware", "-hardware", "/usr/share/arduino-builder", "-tools", "/usr/bin")
FLOAT = "-prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__"
"""avr-libc's <float.h> lacks what the core's own file asks for in C++."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("compile", "upload"))
    parser.add_argument("-b", dest="board", choices=CPU, required=True)
    parser.add_argument("-p", dest="port")
    parser.add_argument("--library", action="append", type=Path, default=[])
    parser.add_argument("sketch", type=Path)
    given = parser.parse_intermixed_args(argv)
    out = BUILD / given.sketch.name
    if given.verb == "upload":
        print(on_simavr(out / f"{given.sketch.name}.ino.elf"))
        return 0
    libraries = BUILD / "libraries"
    shutil.rmtree(BUILD, ignore_errors=True)
    out.mkdir(parents=True)
    for library in given.library:
        assert (library / "library.properties").is_file(), library
        shutil.copytree(library, libraries / library.name)
    board = ("-fqbn", f"{given.board}:cpu={CPU[given.board]}", "-build-path", out, "-libraries", libraries)
    sketch = (given.sketch / f"{given.sketch.name}.ino").absolute()
    return subprocess.call([str(a) for a in ("arduino-builder", "-compile", *HARDWARE, *board, FLOAT, sketch)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
