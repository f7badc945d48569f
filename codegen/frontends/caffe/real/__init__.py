"""Caffe as a RealGraph: each layer's parameters translated, nothing settled about how numbers are stored."""

from codegen.frontends.caffe.real.importer import read_real

__all__ = ["read_real"]
