"""arecord: what the examples' stand-in for a microphone whistles."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.shared import ROOT

_PROGRAM = """
#include "microphone.h"
#include <stdio.h>
int main(void)
{
    microphone source = {0, 0, 0};
    while (source.time < MICROPHONE_END) {
        putchar(microphone_sample(&source));
    }
    return 0;
}
"""


def main(argv: list[str]) -> int:
    assert argv == ["-q", "-t", "raw", "-f", "S8", "-r", "4000"], argv
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "sound"
        include = ROOT / "examples" / "firmware" / "listen" / "src"
        gcc = ["gcc", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-xc", "-", "-o", program]
        subprocess.run(gcc, input=_PROGRAM.encode(), check=True)
        return subprocess.call([program])


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
