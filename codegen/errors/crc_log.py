"""Refusals of a log that `verify --crc` was given."""

from __future__ import annotations

from codegen.errors.base import CompileError

_HOW = "docs/board.md says how a board writes one"


class LogUnreadable(CompileError):
    """The file of the board's log is missing, or is none."""

    code = "LAM-VERIFY-001"
    is_usage = True
    hint = "give the file that the terminal program wrote"


class LogWithoutTrace(CompileError):
    """The log has no line of a trace: nothing that begins with $LAM and has its check sum."""

    code = "LAM-VERIFY-002"
    hint = f"compile all files with -DNAME_TRACE and -DNAME_SELFTEST_PUT=..., and call NAME_selftest; {_HOW}"


class LogWithoutBegin(CompileError):
    """The log has lines of a trace, but not the one that says of which firmware they are."""

    code = "LAM-VERIFY-003"
    hint = "start the capture before the board, or reset the board while capturing"


class LogOfAnother(CompileError):
    """The log is of other firmware: another model, other options, another version of this tool, other weights."""

    code = "LAM-VERIFY-004"
    hint = "give the model and the options that the firmware was compiled with, or build the firmware anew"


class LogIncomplete(CompileError):
    """Lines are missing, and those that are there are right: nothing can be said of the others."""

    code = "LAM-VERIFY-005"
    hint = "a board that stops in a layer: look at its stack, its watchdog and its faults; else capture it once more"


class LogContradicts(CompileError):
    """The log has two lines about the same thing that say different things."""

    code = "LAM-VERIFY-006"
    hint = "capture one board at a time, into a new file"


class BoardRefused(CompileError):
    """NAME_init or a run failed on the board, and everything before was right."""

    code = "LAM-VERIFY-007"
    hint = "the status says what is missing: include/NAME.h and runtime/lam_base.h"
