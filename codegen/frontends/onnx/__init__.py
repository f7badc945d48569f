"""Reads quantized ONNX models: QDQ as ONNX Runtime, PyTorch and vendors' tools write it, and QOperator."""

from codegen.frontends.onnx.importer import import_onnx
from codegen.frontends.onnx.ports import metadata_of, stored_inputs

__all__ = ["import_onnx", "metadata_of", "stored_inputs"]
