"""Refusals of networks that are built by calls."""

from __future__ import annotations

from codegen.errors.base import CompileError


class OperatorNotCalled(CompileError):
    """No operator has this name, so that there is no function for it."""

    code = "LAM-BUILD-001"
    is_usage = True
    hint = "dir(net.onnx) and dir(net.real) list the operators"


class CallWrong(CompileError):
    """An operator was called with an attribute that it does not have, without one that it needs, or with wrong ones."""

    code = "LAM-BUILD-002"
    is_usage = True
    hint = "inspect.signature of the function shows its attributes"


class TensorWrong(CompileError):
    """An operand is no tensor of this network, and no number or array that could become one."""

    code = "LAM-BUILD-003"
    is_usage = True
    hint = "give what a call of the same Net returned, an array, a number, or None for an input that is left out"


class NetworkUnfinished(CompileError):
    """A network is to be compiled or written that has no input or no output, or two that are called alike."""

    code = "LAM-BUILD-004"
    is_usage = True
    hint = "name inputs with net.input and outputs with net.output, each once"
