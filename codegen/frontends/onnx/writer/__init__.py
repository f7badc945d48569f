"""A RealGraph as an ONNX model: float, or with QuantizeLinear and DequantizeLinear around what is held as integers."""

from codegen.frontends.onnx.tensors import INT_BITS_KEY
from codegen.frontends.onnx.writer.model import model_bytes

__all__ = ["INT_BITS_KEY", "model_bytes"]
