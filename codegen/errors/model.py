"""Refusals of a model: its file, its numbers, its form."""

from __future__ import annotations

from codegen.errors.base import CompileError


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


class ScaleNoPower(CompileError):
    """A factor is not a power of two, and the arithmetic asked for only shifts."""

    code = "LAM-FIXEDPOINT-004"
    hint = "quantize with powers of two (lamina quantize --scales pot), or choose --requant single or mul8"


class ModelMissing(CompileError):
    """The model's file is not there, or is not a file."""

    code = "LAM-IMPORT-002"
    is_usage = True
    hint = "check the path"


class ModelUnreadable(CompileError):
    """The file is not a model of its format, or is cut off or damaged."""

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


class ShapeDynamic(CompileError):
    """A dimension of an input is not a number."""

    code = "LAM-IMPORT-009"
    hint = "give the input's shape: --shape NAME=1,3,224,224, or shapes={'NAME': (1, 3, 224, 224)} in Python"


class ScaleBad(CompileError):
    """A quantization scale is not a positive, finite, normal float32 number; constants may have smaller ones."""

    code = "LAM-IMPORT-010"
    hint = (
        "quantize the model again with calibration data that exercises this tensor; where the scale is inf, with large "
        "finite numbers in place of infinities, such as those of masks"
    )


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
    hint = "see what the documentation of ONNX or TFLite says of the operator"


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
    """A node has graphs of its own that are not read; If, Loop and Scan are, where their steps are known."""

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
    """The model computes scales while it runs, and their integers are more than what scaled products read."""

    code = "LAM-IMPORT-025"
    hint = "write it with onnxruntime.quantization.quantize_dynamic, or quantize it statically (quantize_static)"


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


class RowsLeftOver(CompileError):
    """An operator counts, orders or joins the rows that NonMaxSuppression selects, of which some may be left over."""

    code = "LAM-IMPORT-057"
    hint = "end the network before it: the firmware knows the rows that are used by the first column, which is not -1"


class OutputConstant(CompileError):
    """A network output that depends on no input holds numbers that no element type of the network can hold."""

    code = "LAM-IMPORT-029"
    hint = "remove this output from the model"


class NothingComputed(CompileError):
    """No output of the network has an element: there is nothing to compute."""

    code = "LAM-IMPORT-078"
    hint = "look for an empty slice, or a dimension of 0, in what leads to the outputs"


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
