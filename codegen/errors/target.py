"""Refusals of a target: its file, what it cannot do, memory that does not suffice."""

from __future__ import annotations

from codegen.errors.base import CompileError


class TargetUnknown(CompileError):
    """No target has this name."""

    code = "LAM-TARGET-001"
    is_usage = True
    hint = "see `lamina targets`, or give the path of a .toml file of your own"


class TargetFileBroken(CompileError):
    """A target's file cannot be read, or is not TOML."""

    code = "LAM-TARGET-002"
    hint = "targets/README.md shows a whole file"


class TargetKeyUnknown(CompileError):
    """A target's file has a key that means nothing."""

    code = "LAM-TARGET-003"
    hint = "targets/README.md lists the keys"


class TargetKeyMissing(CompileError):
    """A target's file lacks a key that it must have."""

    code = "LAM-TARGET-004"
    hint = "targets/README.md lists the keys"


class TargetValueBad(CompileError):
    """A key of a target's file has a value of the wrong type, or out of range."""

    code = "LAM-TARGET-005"
    hint = "targets/README.md lists the values"


class TargetNumberTooLarge(CompileError):
    """A number of a target's file is larger than that of any chip."""

    code = "LAM-TARGET-010"
    hint = "targets/README.md lists the values; sizes are in bytes"


class RequantUnsupported(CompileError):
    """The target does not offer the requantization mode that was asked for."""

    code = "LAM-TARGET-006"
    hint = "choose one with --requant; a target without a floating-point unit offers no `ort`"


class OperatorNotOnTarget(CompileError):
    """The target's file lists the operator as one that the chip does not run."""

    code = "LAM-TARGET-007"
    hint = "choose another target, or replace the operator in the model"


class StateNotOnTarget(CompileError):
    """The network keeps state from run to run, which code for chips with a scratchpad and DMA does not."""

    code = "LAM-TARGET-009"
    hint = "choose a target without a scratchpad"


class RuleBroken(CompileError):
    """An operator does not keep a rule of the target."""

    code = "LAM-TARGET-020"
    hint = "choose another target, or change the operator in the model; `lamina targets NAME` lists the rules"


class RuleBad(CompileError):
    """A target's file names an operator, or a fact of one, that does not exist."""

    code = "LAM-TARGET-021"
    hint = "targets/README.md lists the facts, docs/operators.md the operators"


class TypeNotOnTarget(CompileError):
    """An element type of the network is not among those of the target."""

    code = "LAM-TARGET-008"
    hint = (
        "choose another target, or quantize the network (lamina quantize); --io-type model has floats at the interface"
    )


class ArenaTooSmall(CompileError):
    """The network's working memory does not fit the target's RAM."""

    code = "LAM-SCHEDULE-301"
    hint = "choose a larger target, or lower the input's resolution"


class FlashTooSmall(CompileError):
    """The network's weights do not fit the target's flash."""

    code = "LAM-SCHEDULE-302"
    hint = "choose a larger target, or a smaller network"


class ArenaLimitUnreachable(CompileError):
    """No plan of this network works in as little memory as was asked for."""

    code = "LAM-SCHEDULE-303"
    hint = "raise --arena-limit, stream the input (--stream-input), allow --max-recompute, or lower the resolution"


class StreamImpossible(CompileError):
    """The network's input cannot be taken row by row."""

    code = "LAM-SCHEDULE-304"
    hint = "compile without --stream-input; rows of --io-layout nhwc come one by one where the model's own may not"


class InputNotOutside(CompileError):
    """The network's input cannot lie in memory of the caller's."""

    code = "LAM-SCHEDULE-307"
    hint = "compile without --input-outside"


class WeightsBufferTooSmall(CompileError):
    """A layer's weights do not fit the buffer that they are read into, even a few output channels at a time."""

    code = "LAM-SCHEDULE-306"
    hint = "give a larger --weights-buffer"


class ScratchpadTooSmall(CompileError):
    """A layer does not fit the target's scratchpad, even one row and a few output channels at a time."""

    code = "LAM-SCHEDULE-305"
    hint = "choose a target with more scratchpad, or lower the input's width"
