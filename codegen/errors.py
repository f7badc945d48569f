"""Every refusal of the compiler, each with a permanent id.

Decides: what a user reads when something cannot be done.  One base class, one subclass per cause; the
subclass holds the id and the way out, the instance says where and what was found.  `docs/errors.md` is
generated from the classes here, so a cause is described once.
"""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST_PLACE = 400
_LONGEST_FINDING = 600
_MOST_PROBLEMS = 50


def one_line(text: str, longest: int) -> str:
    """Text from a model for a terminal: what cannot be printed is escaped, the middle of a long one left out.

    Cannot be printed: control characters, ends of lines, marks that change the direction of writing, half characters.
    """
    half = longest // 2
    text = text if len(text) <= longest else f"{text[:half]} ... {text[-half:]}"
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode("ascii") for ch in text)


def first_line(error: Exception) -> str:
    """The first line of what an exception of another library says; its kind when that is empty."""
    return ((str(error).splitlines() or [""])[0] or type(error).__name__)[:200]


class CompileError(Exception):
    """A refusal: what is wrong, where, and what to do.  Never a traceback for the user.

    Args:
        where: the node, tensor, file or option concerned.
        found: what was found there, in one sentence without a full stop.
        hint: overrides the class's way out.
    """

    code = "LAM-GENERAL-001"
    hint = ""
    longest = _LONGEST_FINDING
    is_usage = False
    """Whether the command or call is at fault and not what it works on: it names something that is not there."""

    def __init__(self, found: str, *, where: str = "", hint: str | None = None) -> None:
        """Keep the parts, so that JSON and text spell the same error."""
        self.where = where
        self.found = found
        if hint is not None:
            self.hint = hint
        super().__init__(self.text())

    def text(self) -> str:
        """One line: id, place, finding, way out."""
        way_out = f" ({one_line(self.hint, _LONGEST_FINDING)})" if self.hint else ""
        return f"{self.finding()}{way_out}"

    def finding(self) -> str:
        """The line without the way out."""
        place = f"{one_line(self.where, _LONGEST_PLACE)}: " if self.where else ""
        return f"{self.code} {place}{one_line(self.found, self.longest)}"

    def problems(self) -> tuple[CompileError, ...]:
        """The single errors this one stands for."""
        return (self,)


class ModelRejected(CompileError):
    """The model has one or more problems; all of them are listed at once."""

    code = "LAM-IMPORT-001"
    hint = "each line names its own way out"

    def __init__(self, problems: Iterable[CompileError], *, where: str = "") -> None:
        """Gather the problems found in one model; there must be at least one."""
        self._problems = tuple(problems)
        assert self._problems, "a rejection needs a reason"
        super().__init__(f"{len(self._problems)} problem(s)", where=where)

    def text(self) -> str:
        """One line per problem, in the model's order, each once; past the first fifty their number."""
        lines = list(dict.fromkeys(p.text() for p in self._problems))
        if len(lines) > _MOST_PROBLEMS:
            lines[_MOST_PROBLEMS:] = [f"{self.code} and {len(lines) - _MOST_PROBLEMS} more problems"]
        return "\n".join(lines)

    def problems(self) -> tuple[CompileError, ...]:
        """The single errors, in the model's order."""
        return self._problems


class ToolMissing(CompileError):
    """A compiler, an emulator or another program is not on this machine."""

    code = "LAM-PROCESS-001"
    hint = "install it and make sure it is on PATH"

    def __init__(self, program: str, packages: Iterable[str] = (), *, found: str = "not found on PATH") -> None:
        """Name the program and the Debian packages that bring it."""
        names = " ".join(packages)
        super().__init__(found, where=program, hint=f"on Debian: apt-get install {names}" if names else None)


class ToolFailed(CompileError):
    """A program that was started ended with a failure."""

    code = "LAM-PROCESS-002"
    hint = "its last lines follow"

    def __init__(self, program: str, returncode: int, stderr: bytes) -> None:
        """Keep the exit code (negative: a signal) and the last lines the program wrote."""
        self.returncode = returncode
        self.lines = stderr.decode("utf-8", errors="replace").strip().splitlines()[-20:]
        found = f"ended by signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
        super().__init__(found, where=program, hint=None if self.lines else "it said nothing more")

    def text(self) -> str:
        """The error's line, then the program's own."""
        return "\n  ".join([super().text(), *(one_line(line, _LONGEST_FINDING) for line in self.lines)])


class ToolTimeout(CompileError):
    """A program did not end within its time limit and was stopped."""

    code = "LAM-PROCESS-003"
    hint = "give it more time, or less work"

    def __init__(self, program: str, timeout_s: float) -> None:
        """Name the limit."""
        super().__init__(f"still running after {timeout_s:g} s", where=program)


class ToolOutputTooLong(CompileError):
    """A program wrote more than anybody would read and was stopped."""

    code = "LAM-PROCESS-004"
    hint = "it probably prints in an endless loop"

    def __init__(self, program: str, limit: int) -> None:
        """Name the limit."""
        super().__init__(f"wrote more than {limit} bytes", where=program)


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


class BoardMissing(CompileError):
    """The target says nothing about a board to run on."""

    code = "LAM-EMULATOR-001"
    hint = "choose a target with a [board] table, such as cortex-m4, or verify on the host"


class CyclesUnknown(CompileError):
    """Cycles are to be estimated for a target whose file says nothing about them."""

    code = "LAM-EMULATOR-002"
    hint = "leave out --cycles, or give the target's file a [cycles] table and its toolchain an objdump"


class PluginFailed(CompileError):
    """The emulator does not run with the plugin that counts what is executed, or the counts contradict its timer."""

    code = "LAM-EMULATOR-003"
    hint = "leave out --cycles; it needs a QEMU built with plugins, as Debian's is"


class ScaleTooLarge(CompileError):
    """A requantization multiplies by more than its multiplier and shift can express."""

    code = "LAM-FIXEDPOINT-001"
    hint = "the output's scale is far too small for its inputs: check the calibration of this tensor"


class ScaleInvalid(CompileError):
    """A requantization scale is negative, infinite or not a number."""

    code = "LAM-FIXEDPOINT-002"
    hint = "every scale in the model must be positive and finite: quantize the model again"


class LeftShiftOverflow(CompileError):
    """In TFLite's arithmetic a scale of one or more shifts accumulators left, and one of them would overflow."""

    code = "LAM-FIXEDPOINT-003"
    hint = "choose another requantization with --requant single, or a larger output scale"


class NoKernel(CompileError):
    """The kernel library has no C for an operator on these types."""

    code = "LAM-LOWER-001"
    hint = "see docs/operators.md for the types each operator takes"


class ModelMissing(CompileError):
    """The model's file is not there, or is not a file."""

    code = "LAM-IMPORT-002"
    is_usage = True
    hint = "check the path"


class ModelUnreadable(CompileError):
    """The file is not an ONNX model, or is cut off or damaged."""

    code = "LAM-IMPORT-003"
    hint = "export the model again; a download may be incomplete, or hold a Git LFS pointer"


class ModelTooLarge(CompileError):
    """A size in the model is beyond what a small chip could ever hold, and beyond what is safe to read."""

    code = "LAM-IMPORT-004"
    hint = "export a smaller model; the limits are far above any microcontroller's memory"


class ExternalDataMissing(CompileError):
    """Weights kept outside the model's file are not there, or are shorter than the model says."""

    code = "LAM-IMPORT-005"
    hint = "put the data file beside the model, or save the model with its weights inside"


class ExternalDataOutside(CompileError):
    """The model names a data file outside its own folder."""

    code = "LAM-IMPORT-006"
    hint = "external data must lie beside the model or below it"


class OperatorUnknown(CompileError):
    """The model has an operator that is not supported."""

    code = "LAM-IMPORT-007"
    hint = "docs/operators.md lists what is supported; replace the operator in the model"


class ModelNotQuantized(CompileError):
    """The model is a float model: nothing in it is quantized."""

    code = "LAM-IMPORT-008"
    hint = "quantize it first: `lamina inspect` shows the command, and what the int8 form needs"


class ShapeDynamic(CompileError):
    """A dimension of an input is not a number."""

    code = "LAM-IMPORT-009"
    hint = "give the input's shape: --shape NAME=1,3,224,224, or shapes={'NAME': (1, 3, 224, 224)} in Python"


class ScaleBad(CompileError):
    """A quantization scale is not a positive, finite, normal float32 number; constants may have smaller ones."""

    code = "LAM-IMPORT-010"
    hint = "quantize the model again with calibration data that exercises this tensor"


class ZeroPointBad(CompileError):
    """A zero point has another type or length than its tensor and scale call for, or is out of range."""

    code = "LAM-IMPORT-011"
    hint = "the zero point has the quantized tensor's type and the scale's shape"


class QuantAxisBad(CompileError):
    """A per-axis scale does not fit its tensor."""

    code = "LAM-IMPORT-012"
    hint = "a per-axis scale has one entry for each index along its axis; activations take one scale"


class AttributeBad(CompileError):
    """An attribute has the wrong type or a value out of range, or a required one is missing."""

    code = "LAM-IMPORT-013"
    hint = "see the operator's page in the ONNX documentation"


class ShapeMismatch(CompileError):
    """Ranks, sizes or element types of an operator's tensors do not fit each other."""

    code = "LAM-IMPORT-014"
    hint = "the exported graph contradicts itself: export it again"


class InputMissing(CompileError):
    """A node reads a tensor that nothing writes, or lacks a required input, or has no output."""

    code = "LAM-IMPORT-015"
    hint = "the exported graph is incomplete: export it again"


class NameTwice(CompileError):
    """Two nodes, inputs or initializers write the same tensor."""

    code = "LAM-IMPORT-016"
    hint = "every tensor has one writer: rename one of them"


class GraphCyclic(CompileError):
    """Nodes wait for each other's results."""

    code = "LAM-IMPORT-017"
    hint = "a network runs from inputs to outputs without loops: unroll recurrent connections"


class TensorBad(CompileError):
    """A constant's data does not have the size its type and shape call for, or is malformed."""

    code = "LAM-IMPORT-018"
    hint = "the file is damaged or was written by a faulty tool: export it again"


class TypeUnsupported(CompileError):
    """A tensor has an element type that networks here do not hold."""

    code = "LAM-IMPORT-019"
    hint = "quantize to int8, uint8, int16 or uint16 activations, int8 weights and int32 biases"


class ResultNotQuantized(CompileError):
    """A float result is used without passing a QuantizeLinear."""

    code = "LAM-IMPORT-020"
    hint = "quantize every tensor: the operator needs QuantizeLinear and DequantizeLinear around it"


class SubgraphUnsupported(CompileError):
    """The model has control flow: If, Loop, Scan, or another operator with a graph inside."""

    code = "LAM-IMPORT-021"
    hint = "export without control flow, for example by tracing rather than scripting"


class FormUnsupported(CompileError):
    """A supported operator appears in a form that is not supported."""

    code = "LAM-IMPORT-022"
    hint = "docs/operators.md says which forms are supported"


class ParameterDynamic(CompileError):
    """Something that must be known at compile time (weights, a scale, a shape) is computed by the network."""

    code = "LAM-IMPORT-023"
    hint = "make it a constant: fold the model with onnxruntime or onnx-simplifier before quantizing"


class FoldFailed(CompileError):
    """A constant expression of the model cannot be computed."""

    code = "LAM-IMPORT-024"
    hint = "the exported graph contradicts itself: export it again"


class QuantizationDynamic(CompileError):
    """The model computes scales while it runs (dynamic quantization)."""

    code = "LAM-IMPORT-025"
    hint = "use static quantization: onnxruntime.quantization.quantize_static"


class OpsetUnsupported(CompileError):
    """The model's operator set is missing, or newer than the installed onnx package knows."""

    code = "LAM-IMPORT-026"
    hint = "update the onnx package, or export with an older opset"


class FunctionBad(CompileError):
    """A function of the model calls itself, or grows beyond all bounds when inlined."""

    code = "LAM-IMPORT-027"
    hint = "inline the model's functions before quantizing"


class FunctionTwice(CompileError):
    """Two functions of the model have the same domain, name and overload, so that a call may mean either."""

    code = "LAM-IMPORT-033"
    hint = "the exported model contradicts itself: export it again, or inline its functions first"


class BiasOutOfRange(CompileError):
    """A bias does not fit 32 bits at its layer's scale."""

    code = "LAM-IMPORT-028"
    hint = "the weights' or the input's scale is far too small: quantize this layer per tensor, or calibrate again"


class WeightsTooWide(CompileError):
    """Weights less their zero points need more than 16 bits."""

    code = "LAM-IMPORT-056"
    hint = "quantize weights symmetrically: zero point 0, or 32768 of uint16"


class OutputConstant(CompileError):
    """A network output that depends on no input holds numbers that no element type of the network can hold."""

    code = "LAM-IMPORT-029"
    hint = "remove this output from the model"


class OptionBad(CompileError):
    """An option of the import has a value that does not exist."""

    code = "LAM-IMPORT-030"
    is_usage = True
    hint = "io_type is quantized or model, io_layout is nhwc or model"


class VariableUnsupported(CompileError):
    """A variable, which keeps its content from run to run, is used in a way that is not supported."""

    code = "LAM-IMPORT-031"
    hint = "docs/tflite.md says which variables are supported"


class VersionUnknown(CompileError):
    """An operator of a TFLite model has a version that does not exist, or is newer than what is known of it."""

    code = "LAM-IMPORT-032"
    hint = "convert the model with an older converter"


class ShapeBad(CompileError):
    """A shape given for an input is not a list of whole numbers of 1 or more."""

    code = "LAM-IMPORT-050"
    hint = "write --shape NAME=1,3,224,224, or shapes={'NAME': (1, 3, 224, 224)} in Python"


class ShapeContradiction(CompileError):
    """A shape given for an input contradicts the model."""

    code = "LAM-IMPORT-051"
    hint = "only dimensions that the model leaves open take another size"


class ShapeOfNothing(CompileError):
    """A shape is given for an input that the model does not have."""

    code = "LAM-IMPORT-052"
    hint = "`lamina inspect MODEL` shows the inputs' names"


class InputsDoNotFit(CompileError):
    """An operator's inputs contradict its attributes or each other."""

    code = "LAM-OPS-001"
    hint = "check the shapes and types of this node in the model, for example with onnx.checker"


class OperatorLimit(CompileError):
    """An operator is used beyond what the compiler supports; the id is the limit's own."""

    code = "LAM-OPS-400"
    hint = "docs/operators.md lists every operator's limits"

    def __init__(self, code: str, found: str, *, where: str = "") -> None:
        """Take the broken limit's id and sentence."""
        self.code = code
        super().__init__(found, where=where)


class FeedUnknown(CompileError):
    """Data was given for a name that is not an input, or an input got none."""

    code = "LAM-GOLDEN-001"
    hint = "give one array per input, by the input's name"


class FeedShapeWrong(CompileError):
    """The data for an input has another shape than the input."""

    code = "LAM-GOLDEN-002"
    hint = "give the data in the input's own shape and layout"


class FeedTypeWrong(CompileError):
    """The data for an input has another element type than the input."""

    code = "LAM-GOLDEN-003"
    hint = "quantize the data with the input's scale and zero point first"


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


class FeedNotFinite(CompileError):
    """A float array given to the network holds NaN or infinity, which no integer stands for."""

    code = "LAM-GOLDEN-004"
    hint = "clean the data first"


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


class RequantUnsupported(CompileError):
    """The target does not offer the requantization mode that was asked for."""

    code = "LAM-TARGET-006"
    hint = "choose one with --requant; a target without a floating-point unit offers no `ort`"


class OperatorNotOnTarget(CompileError):
    """The target's file lists the operator as one that the chip does not run."""

    code = "LAM-TARGET-007"
    hint = "choose another target, or replace the operator in the model"


class StateNotOnTarget(CompileError):
    """The network keeps state from run to run, which code for chips with local memory and DMA does not."""

    code = "LAM-TARGET-009"
    hint = "choose a target without local memory"


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
    hint = "choose another target; floats at the interface come with --io-type model"


class ArenaTooSmall(CompileError):
    """The network's working memory does not fit the target's RAM."""

    code = "LAM-SCHEDULE-301"
    hint = "choose a larger target, or lower the input's resolution"


class FlashTooSmall(CompileError):
    """The network's weights do not fit the target's flash."""

    code = "LAM-SCHEDULE-302"
    hint = "choose a larger target, or a smaller network"


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
        "the engines are golden (the numpy model), c (the generated C), float (ONNX Runtime), litert and tflm (TFLite)"
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
    hint = "the metrics are top1 and top5"


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
        lines = [self.finding(), *self.hint.splitlines(), "docs/preprocess.md says what each key does"]
        return "\n  ".join(lines)


class NetworkClosed(CompileError):
    """A network was used after `close()`, or behind the `with` statement that opened it."""

    code = "LAM-API-031"
    hint = "open it again with codegen.load(project)"


class ConfigUnreadable(CompileError):
    """The configuration file is missing, or is not TOML."""

    code = "LAM-PREPROCESS-001"
    hint = "docs/preprocess.md shows a whole file"


class ConfigKeyUnknown(CompileError):
    """The configuration file has a table or a key that means nothing."""

    code = "LAM-PREPROCESS-002"
    hint = "docs/preprocess.md lists the keys"


class ConfigValueBad(CompileError):
    """A key of the configuration file has a value of the wrong type, or out of range."""

    code = "LAM-PREPROCESS-003"
    hint = "docs/preprocess.md lists the values"


class SampleDoesNotFit(CompileError):
    """A sample does not have the axes, channels or size that the [preprocess] table and the model call for."""

    code = "LAM-PREPROCESS-004"
    hint = "a file for --config says how a sample becomes the model's input; docs/preprocess.md shows whole files"


class ImageUnreadable(CompileError):
    """A picture of the data file cannot be decoded."""

    code = "LAM-PREPROCESS-005"
    hint = "`jpeg` holds all files joined, and picture i lies at offset[i] .. offset[i + 1]"


class ArenaLimitUnreachable(CompileError):
    """No plan of this network works in as little memory as was asked for."""

    code = "LAM-SCHEDULE-303"
    hint = "raise --arena-limit, stream the input with --stream-input, or lower the input's resolution"


class StreamImpossible(CompileError):
    """The network's input cannot be taken row by row."""

    code = "LAM-SCHEDULE-304"
    hint = "compile without --stream-input"


class LocalMemoryTooSmall(CompileError):
    """A layer does not fit the target's local memory, even one row and a few output channels at a time."""

    code = "LAM-SCHEDULE-305"
    hint = "choose a target with more local memory, or lower the input's width"
