"""ONNX as a RealGraph: each node's attributes translated, nothing settled about how numbers are stored."""

from codegen.frontends.onnx.real.importer import read_real

__all__ = ["read_real"]
