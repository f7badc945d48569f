"""idf.py: CMake with the stand-in for ESP-IDF, and the program run as a process."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.stand_ins import HERE


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("-C", dest="project", type=Path, required=True)
    parser.add_argument("actions", nargs="+")
    given = parser.parse_intermixed_args(argv)
    build = given.project / "build"
    if given.actions[0] == "set-target":
        assert given.actions[1:] == ["esp32s3"], given.actions
        flags = ["-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"]
        env = {**os.environ, "IDF_PATH": str(HERE / "esp_idf")}
        return subprocess.call(["cmake", "-S", given.project, "-B", build, *flags], env=env)
    assert given.actions == ["build", "flash", "monitor"], given.actions
    return subprocess.call(["cmake", "--build", build]) or subprocess.call([build / "firmware"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
