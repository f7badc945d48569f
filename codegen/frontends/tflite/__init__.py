"""Reads quantized TFLite models: full-integer int8, uint8 and int16."""

from codegen.frontends.tflite.importer import has_uint8_weights, import_tflite, read_ports
from codegen.frontends.tflite.reader import is_tflite

__all__ = ["has_uint8_weights", "import_tflite", "is_tflite", "read_ports"]
