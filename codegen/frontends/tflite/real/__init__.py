"""TFLite as a RealGraph: options translated, and each quantized tensor a real value that says how it is held."""

from codegen.frontends.tflite.real.importer import read_real

__all__ = ["read_real"]
