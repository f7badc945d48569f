"""The forms in which operators are read, in words: the way out of a refusal, and a table of docs/operators.md.

Decides nothing: the importers do.  An operator that is not here is read in every form that ONNX gives it.
"""

from __future__ import annotations

from collections.abc import Mapping

_SUM = "two quantized tensors; a quantized tensor and constants of any shape"
_EXTREMUM = "quantized tensors; a tensor and constants"
FORMS: Mapping[str, str] = {
    "Add": _SUM,
    "AveragePool": "any spatial axes",
    "BatchNormalization": "inference, with constant parameters; behind a product or a quantized tensor",
    "Cast": "to float; to the type that a tensor has; between int32 and int64",
    "Conv": "constant weights and bias; of real numbers computed ones as well",
    "ConvTranspose": "constant weights and bias; of real numbers computed weights as well",
    "Div": "two quantized tensors; a quantized tensor over constants of any shape; one number over a quantized tensor",
    "Dropout": "inference: without a mask, training_mode false or a ratio of 0",
    "Einsum": "a product of two tensors as MatMul has it, their axes in any order; a sum of one; of real numbers any",
    "Gemm": "A of two axes; B constant, any alpha and beta, C constant with one number per output; or B computed, "
    "alpha above 0, no C; of real numbers in every form",
    "GroupNormalization": "operator set 21 or newer, constant scale and bias for each channel",
    "InstanceNormalization": "constant scale and bias",
    "LayerNormalization": "constant scale and bias; without its mean and deviation as results",
    "MatMul": "two quantized tensors; a quantized tensor and constant weights of two axes",
    "Max": _EXTREMUM,
    "MaxPool": "without the positions of the maxima",
    "Min": _EXTREMUM,
    "Mod": "two quantized tensors; a quantized tensor and one number, which is the divisor of 16-bit tensors; of real "
    "numbers any",
    "Mul": _SUM,
    "Pad": "mode constant, edge or reflect, constant amounts of which negative ones cut off",
    "Pow": "a quantized tensor to the power of one number; one number to the power of a quantized tensor",
    "Resize": "every mode; any coordinate_transformation_mode but tf_crop_and_resize, keep_aspect_ratio_policy "
    "stretch; of all axes but images and channels, which are the second axis or the last",
    "Slice": "constant positions and steps",
    "Sub": _SUM,
}


def way_out(op_type: str) -> str | None:
    """The forms of an operator as a hint; None where nothing is written of it."""
    return f"read in this form: {FORMS[op_type]}" if op_type in FORMS else None
