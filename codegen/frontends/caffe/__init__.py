"""Reads Caffe networks: a prototxt, and the caffemodel that has its weights."""

from codegen.frontends.caffe.importer import import_caffe
from codegen.frontends.caffe.weights import weights_beside

__all__ = ["import_caffe", "weights_beside"]
