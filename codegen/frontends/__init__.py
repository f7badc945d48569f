"""Reads models: ONNX, TFLite and Caffe, told apart by the file itself."""

from codegen.frontends.files import is_caffe, is_tflite
from codegen.frontends.models import (
    REQUANT_KEY,
    has_bfloat16,
    has_integer_kernels,
    import_model,
    is_onnx,
    label_entries,
    metadata_of,
    model_digest,
    own_mode,
    read_real,
    real_bytes,
    stored_inputs,
    survey_model,
)
from codegen.frontends.survey import Survey
from codegen.frontends.vocabulary import Vocabulary

__all__ = [
    "REQUANT_KEY",
    "Survey",
    "Vocabulary",
    "has_bfloat16",
    "has_integer_kernels",
    "import_model",
    "is_caffe",
    "is_onnx",
    "is_tflite",
    "label_entries",
    "metadata_of",
    "model_digest",
    "own_mode",
    "read_real",
    "real_bytes",
    "stored_inputs",
    "survey_model",
]
