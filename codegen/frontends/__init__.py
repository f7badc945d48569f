"""Reads models: ONNX and TFLite, told apart by the file itself."""

from codegen.frontends.models import import_model, own_mode

__all__ = ["import_model", "own_mode"]
