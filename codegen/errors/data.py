"""Refusals of data: inputs, samples, images, how they are prepared."""

from __future__ import annotations

from codegen.errors.base import CompileError


class FeedUnknown(CompileError):
    """Data was given for a name that is not an input, or an input got none."""

    code = "LAM-GOLDEN-001"
    hint = "give one array per input, by the input's name"


class FeedShapeWrong(CompileError):
    """The data for an input has another shape than the input."""

    code = "LAM-GOLDEN-002"
    hint = "give the data in the input's own shape and layout"


class FeedTypeWrong(CompileError):
    """The data for an input has another element type than the input, or whole numbers that its type does not hold."""

    code = "LAM-GOLDEN-003"
    hint = "quantize the data with the input's scale and zero point first"


class FeedNotFinite(CompileError):
    """A float array given to a quantized input holds NaN or infinity, which no integer stands for."""

    code = "LAM-GOLDEN-004"
    hint = "clean the data first"


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


class PreprocessNotC(CompileError):
    """A [preprocess] table cannot become C for this network: it has no camera, or the network takes no picture."""

    code = "LAM-PREPROCESS-006"
    hint = "docs/preprocess.md shows a table that a firmware's C is made of: format, size, crop, resize"


class PostprocessValueBad(CompileError):
    """A key of the [postprocess] table has a value of the wrong type, or out of range."""

    code = "LAM-POSTPROCESS-001"
    hint = "docs/postprocess.md lists the keys of each decoder"


class PostprocessMissing(CompileError):
    """A metric is of boxes that a network finds, and no [postprocess] table says how it finds them."""

    code = "LAM-POSTPROCESS-003"
    hint = "give --config a file with the [postprocess] table of a detector; docs/postprocess.md"


class PostprocessMisfit(CompileError):
    """The decoder that a [postprocess] table names finds no outputs of its kind in the network."""

    code = "LAM-POSTPROCESS-002"
    hint = "docs/postprocess.md says which shapes each decoder takes; `outputs` names them in its order"
