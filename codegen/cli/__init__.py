"""The command line: `lamina VERB ...`.  Thin: it parses, calls codegen.api, and prints.

Exit codes: 0 it worked, 1 the work failed (one line with an id on standard error), 2 the command was not understood or
names what is not there (a file, a target, an engine), 130 it was stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

STOPPED = 130
"""What a shell gives a program that Ctrl-C ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code.

    Everything else is imported in here, so that Ctrl-C while that takes its time ends as it does later.
    """
    try:
        from codegen.cli.command_line import run_line

        return run_line(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return STOPPED
