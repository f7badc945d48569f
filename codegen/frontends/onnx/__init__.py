"""Reads quantized ONNX models: QDQ as ONNX Runtime, PyTorch and vendors' tools write it, and QOperator."""

from codegen.frontends.onnx.importer import import_onnx
from codegen.frontends.onnx.ports import has_bfloat16, has_integer_kernels, metadata_of, stored_inputs

__all__ = ["has_bfloat16", "has_integer_kernels", "import_onnx", "metadata_of", "stored_inputs"]
