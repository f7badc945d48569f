"""west build: CMake with the stand-in for Zephyr, and the sample run as a process."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.stand_ins import HERE


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("build",))
    parser.add_argument("-b", dest="board")
    parser.add_argument("-d", dest="build", type=Path, default=Path("build"))
    parser.add_argument("-t", dest="target", choices=("run",))
    parser.add_argument("source", nargs="?", type=Path)
    cut = argv.index("--") if "--" in argv else len(argv)
    given = parser.parse_intermixed_args(argv[:cut])
    if given.target:
        return subprocess.call([str(given.build.absolute() / "zephyr.elf")])
    env = {**os.environ, "ZEPHYR_BASE": str(HERE / "zephyr")}
    flags = ["-DCMAKE_C_FLAGS=-pthread -Wall -Wextra -Werror", f"-DBOARD={given.board}", *argv[cut + 1 :]]
    subprocess.check_call(["cmake", "-S", given.source, "-B", given.build, *flags], env=env)
    return subprocess.call(["cmake", "--build", given.build])


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
