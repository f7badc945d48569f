"""Refusals of a Caffe network: its text, its weights, how they fit each other."""

from __future__ import annotations

from codegen.errors.base import CompileError


class PrototxtBad(CompileError):
    """A prototxt is no network: no text, no layers, or a field or a word that Caffe's format does not have."""

    code = "LAM-IMPORT-060"
    hint = "give the network's deploy.prototxt; a field of a fork that changes no number can be removed"


class CaffemodelMissing(CompileError):
    """A Caffe network has layers with weights, and no caffemodel is given or lies beside it."""

    code = "LAM-IMPORT-061"
    hint = "give it: --caffemodel FILE, or (prototxt, caffemodel) in Python; one of the same name is found beside it"


class BlobsMissing(CompileError):
    """A caffemodel has no weights for a layer that needs them, or another number of them."""

    code = "LAM-IMPORT-062"
    hint = "the caffemodel belongs to another network, or its layer has another name: blobs are found by layers' names"


class BlobMisfit(CompileError):
    """Weights of a Caffe layer have another shape than its parameters and its input ask for."""

    code = "LAM-IMPORT-063"
    hint = "the caffemodel belongs to another network, or the input has another shape than in training"


class LayerParameterBad(CompileError):
    """A parameter of a Caffe layer is missing, out of range, or contradicts another one."""

    code = "LAM-IMPORT-064"
    hint = "Caffe itself refuses such a layer: correct the prototxt"


class CaffemodelAlone(CompileError):
    """A caffemodel is given where the network's text is expected, or beside a model that is no prototxt."""

    code = "LAM-IMPORT-065"
    is_usage = True
    hint = "a Caffe network is two files: lamina compile net.prototxt --caffemodel net.caffemodel"
