"""Refusals of a command or a call: its options, its files, what it asks for."""

from __future__ import annotations

from codegen.errors.base import CompileError


class UsageWrong(CompileError):
    """The command line cannot be understood: an unknown option, a missing argument, a value out of range."""

    code = "LAM-CLI-001"
    is_usage = True
    hint = "add --help to the command for its options and an example"


class OutputLost(CompileError):
    """What was to be printed could not be written: the disk is full, or the device gone."""

    code = "LAM-CLI-010"
    hint = "the command's work was done, but for what it prints; give standard output another place"


class MemoryExhausted(CompileError):
    """The machine's memory, or what this process may take of it, is not enough for this model or these data."""

    code = "LAM-CLI-011"
    hint = "take fewer samples with --limit, a smaller model, or a larger machine"


class SystemRefused(CompileError):
    """The operating system refused a file, a folder or a process that the command needs for its work."""

    code = "LAM-CLI-012"
    hint = "check free space, permissions, and the folder for temporary files (TMPDIR)"


class InternalFault(CompileError):
    """The compiler itself failed; nothing is wrong with the model or the command."""

    code = "LAM-INTERNAL-001"
    hint = "please report it with the command and, if you may share it, the model; --debug shows the traceback"


class EngineUnknown(CompileError):
    """No engine has this name."""

    code = "LAM-API-001"
    is_usage = True
    hint = (
        "the engines are golden (the numpy model), c (the generated C), "
        "float (ONNX Runtime, or numpy), litert and tflm (TFLite)"
    )


class ExtraMissing(CompileError):
    """An optional Python package is needed for this, and is not installed."""

    code = "LAM-API-002"
    hint = "pip install the extra that the message names"

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        """Name the package, the extra that brings it and what needs it."""
        super().__init__(f"not installed; {purpose}", where=package, hint=f'pip install "lamina[{extra}]"')


class DataFileBad(CompileError):
    """A file of arrays is missing, or is not a .npz or .npy file of plain numbers."""

    code = "LAM-API-003"
    hint = "write it with numpy.savez(path, x=..., y=...)"


class DataKeyMissing(CompileError):
    """A file of arrays lacks an array that is needed."""

    code = "LAM-API-004"
    hint = "samples are called x (or by the names of the model's inputs) and labels y"


class DataDoesNotFit(CompileError):
    """Samples or labels do not fit the model or each other."""

    code = "LAM-API-005"
    hint = "describe the data in a [preprocess] table and give --config; `lamina inspect` shows the inputs"


class MetricUnknown(CompileError):
    """No metric has this name."""

    code = "LAM-API-006"
    is_usage = True
    hint = "docs/metrics.md lists them"


class DumpUnsupported(CompileError):
    """This engine does not hand out the tensors inside the network."""

    code = "LAM-API-007"
    hint = "use the engine golden or c"


class ArraysNotWritable(CompileError):
    """A file of arrays cannot be written; nothing is left behind."""

    code = "LAM-API-008"
    hint = "check the path, permissions and free space"


class ToleranceBad(CompileError):
    """A tolerance is not a pair of numbers up to 1."""

    code = "LAM-API-009"
    is_usage = True
    hint = "give cosine and Euclidean similarity, for example 0.99,0.95"


class EngineFailed(CompileError):
    """Another runtime (ONNX Runtime, LiteRT, TFLite Micro) refuses the model, or failed while running it."""

    code = "LAM-API-010"
    hint = "the words are the runtime's own"


class SeveralOutputs(CompileError):
    """One array was given and one expected back, but the model has several inputs or outputs."""

    code = "LAM-API-011"
    hint = "give a mapping of the model's input names to arrays; the answer is a mapping too"


class PictureNotWritable(CompileError):
    """A picture cannot be written; nothing is left behind."""

    code = "LAM-API-013"
    hint = "check the path, permissions and free space"


class PortTaken(CompileError):
    """A port of this machine cannot be listened at: another program has it, or the system forbids it."""

    code = "LAM-API-014"
    hint = "choose another with --port, or leave it out: then a free one is taken"


class FileSpecial(CompileError):
    """A file that is to be read is a pipe, a device or a socket, which may have no end."""

    code = "LAM-API-020"
    hint = "write what it gives into a file first"


class FileTooLarge(CompileError):
    """A file is larger than files of its kind are read, or holds more than they do when unpacked."""

    code = "LAM-API-021"
    hint = "check the path; docs/security.md says how much is read of each kind of file"


class TomlTooDeep(CompileError):
    """Tables, lists or keys with dots of a TOML file nest deeper than anything that is read."""

    code = "LAM-API-022"
    hint = "targets/README.md and docs/preprocess.md show whole files"


class TomlNumberTooLong(CompileError):
    """A TOML file holds an integer beyond 64 bits, which TOML does not have."""

    code = "LAM-API-023"
    hint = "check the digits; a real number has a point or an exponent"


class OutputIsInput(CompileError):
    """A result is to be written over a file that the command reads, or two results into one file."""

    code = "LAM-API-024"
    is_usage = True
    hint = "give the result a file of its own"


class CountBad(CompileError):
    """A number of samples is not a whole number above zero."""

    code = "LAM-API-012"
    is_usage = True
    hint = "give 1 or more"


class DataNotTheInputs(CompileError):
    """Data cannot be what the input takes: integers for real numbers, another range, or axes in another order."""

    code = "LAM-API-030"
    hint = "describe the data in a [preprocess] table, in a file for --config; the message prints the table"

    def __init__(self, found: str, table: str, *, where: str = "") -> None:
        """Keep the [preprocess] table that would be right."""
        super().__init__(found, where=where, hint=f"say what the data is, in a file for --config:\n{table}")

    def text(self) -> str:
        """The finding, the table below it, and where to read more."""
        lines = [self.finding(), *self.way_out().splitlines(), "`lamina help preprocess` says what each key does"]
        return "\n  ".join(lines)


class NetworkClosed(CompileError):
    """A network was used after `close()`, or behind the `with` statement that opened it."""

    code = "LAM-API-031"
    hint = "open it again with codegen.load(project)"


class MetricBad(CompileError):
    """The Python function that is to be the metric cannot be read, fails, or gives no number."""

    code = "LAM-API-032"
    hint = "a function of all outputs and all labels that gives a number; docs/metrics.md shows one"
