"""Reads quantized TFLite models: full-integer int8, uint8 and int16."""

from codegen.frontends.tflite.archive import archived_labels
from codegen.frontends.tflite.importer import has_uint8_weights, import_tflite, read_ports

__all__ = ["archived_labels", "has_uint8_weights", "import_tflite", "read_ports"]
