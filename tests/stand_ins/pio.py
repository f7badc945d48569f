"""pio run -e native: the libraries of platformio.ini and the project's sources by gcc."""

from __future__ import annotations

import argparse
import configparser
import json
import subprocess
import sys
from pathlib import Path


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("run",))
    parser.add_argument("-d", dest="project", type=Path, required=True)
    parser.add_argument("-e", dest="environment", choices=("native",), required=True)
    parser.add_argument("-t", dest="target", choices=("exec",))
    given = parser.parse_intermixed_args(argv)
    said = configparser.ConfigParser()
    assert said.read(given.project / "platformio.ini")
    assert said["platformio"]["default_envs"] == said["env:native"]["platform"] == "native"
    sources, flags = sorted((given.project / "src").glob("*.c")), []
    for about in (given.project / said["env"]["lib_extra_dirs"]).glob("*/library.json"):
        flags += [*json.loads(about.read_text())["build"]["flags"], f"-I{about.parent / 'src'}"]
        sources += sorted((about.parent / "src").glob("*.c"))
    program = given.project / ".pio" / "build" / "native" / "program"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.check_call(["gcc", "-Os", "-Wall", "-Wextra", "-Werror", *flags, *sources, "-o", program])
    return subprocess.call([program]) if given.target else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
