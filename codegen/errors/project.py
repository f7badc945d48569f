"""Refusals of a project: of its folder, its library, its run."""

from __future__ import annotations

from codegen.errors.base import CompileError


class OutputNotWritable(CompileError):
    """The output folder cannot be written; nothing is left behind."""

    code = "LAM-EMIT-001"
    hint = "check permissions and free space, or choose another folder with -o"


class OutputNotOurs(CompileError):
    """The output folder holds files that are not a generated project, and they are not replaced."""

    code = "LAM-EMIT-002"
    hint = "choose a new or empty folder with -o"


class OutputEdited(CompileError):
    """Files of the project were edited since they were written, or are not its own, and they are not replaced."""

    code = "LAM-EMIT-003"
    hint = "--force (in Python force=True) replaces them; else move your changes elsewhere, or choose another folder"
    longest = 100_000


class OutputBusy(CompileError):
    """Another process has been writing into the output folder for half a minute."""

    code = "LAM-EMIT-004"
    hint = "wait until it has ended, or choose another folder with -o"


class OutputBlocked(CompileError):
    """A folder or a device stands where the project has a file, or a file or a link where it has a folder."""

    code = "LAM-EMIT-005"
    hint = "move it elsewhere, or choose another folder with -o"
    longest = 100_000


class LabelsMisfit(CompileError):
    """There are labels, and no output has as many numbers along its last axis."""

    code = "LAM-EMIT-006"
    is_usage = True
    hint = "give one line for each number of an output, in order, without a heading"


class LabelsUnreadable(CompileError):
    """The file of labels cannot be read, or is no list of texts, one a line."""

    code = "LAM-EMIT-007"
    is_usage = True
    hint = "a text file in UTF-8 with one label a line, in the order of the output's numbers"


class PackageUnfit(CompileError):
    """A package was asked for that cannot carry this project, or a network of this name."""

    code = "LAM-EMIT-008"
    is_usage = True
    hint = "leave it out of --package, or compile with --weights c, without --stream-input, for a chip with one RAM"


class WeightsMisfit(CompileError):
    """Weights were made for the code of a project, which would refuse them: nothing is written."""

    code = "LAM-EMIT-009"
    hint = "docs/weights.md says what makes another structure or interface: compile as the project was, or anew"


class LinkClash(CompileError):
    """Two projects that are to be linked define the same names, or files of the same name."""

    code = "LAM-EMIT-010"
    hint = "compile one of them with another --name, or link into a folder with another name"


class LinkMixed(CompileError):
    """Projects that are to be linked were made by different versions, for other instruction sets, or not for -t's."""

    code = "LAM-EMIT-011"
    hint = "compile all of them with one version of lamina, for one target"


class LinkTooFew(CompileError):
    """Fewer than two projects are to be linked."""

    code = "LAM-EMIT-012"
    is_usage = True
    hint = "give the folders of two compiled projects or more"


class LinkTooLarge(CompileError):
    """The working memory of linked projects exceeds the target's RAM, even used by one at a time."""

    code = "LAM-EMIT-013"
    hint = "name a larger target with -t, or compile the largest network with --goal memory or --arena-limit"


class ProjectInvalid(CompileError):
    """The folder is not a project that this tool generated."""

    code = "LAM-HOST-001"
    hint = "give the folder that `lamina compile -o` wrote"


class RunFailed(CompileError):
    """Generated C reported a failure, or did not do what its schedule says."""

    code = "LAM-HOST-002"
    hint = "this is a fault of the compiler: please report it with the model"


class ArenaDamaged(CompileError):
    """Generated C wrote outside its arena."""

    code = "LAM-HOST-003"
    hint = "this is a fault of the compiler: please report it with the model"


class NotStreamed(CompileError):
    """A row was pushed into a network that takes its input as a whole."""

    code = "LAM-HOST-004"
    hint = "compile it with --stream-input (stream_input=True), or call run"


class ProjectUnfinished(CompileError):
    """A compile into the project's folder was killed while files were being moved: old and new ones are mixed."""

    code = "LAM-HOST-005"
    hint = "compile into the folder once more: that first puts the old files back"


class CompilerSilent(CompileError):
    """A C compiler said that all went well, and wrote nothing."""

    code = "LAM-HOST-010"
    hint = "CC (for this machine) or the target's [toolchain] must name a C compiler, such as gcc or clang"


class ToolNonsense(CompileError):
    """A program of the toolchain said that all went well, but what it wrote cannot be what was asked for."""

    code = "LAM-HOST-012"
    hint = "the [toolchain] and [board] of the target's file name the programs; check each by hand"


class LibraryUnusable(CompileError):
    """What the host's C compiler wrote does not run here, cannot be loaded, or lacks the network's functions."""

    code = "LAM-HOST-011"
    hint = "CC must build for this machine and for the Python that runs here"
