"""Refusals of an operator: beyond its limits, or without a kernel."""

from __future__ import annotations

from codegen.errors.base import CompileError


class NoKernel(CompileError):
    """The kernel library has no C for an operator on these types."""

    code = "LAM-LOWER-001"
    hint = "see docs/operators.md for the types each operator takes"


class InputsDoNotFit(CompileError):
    """An operator's inputs contradict its attributes or each other."""

    code = "LAM-OPS-001"
    hint = "check the shapes and types of this node in the model, for example with onnx.checker"


class OperatorLimit(CompileError):
    """An operator is used beyond what the compiler supports; the id is the limit's own."""

    code = "LAM-OPS-000"
    hint = "docs/operators.md lists every operator's limits"

    def __init__(self, code: str, found: str, *, where: str = "") -> None:
        """Take the broken limit's id and sentence."""
        self.code = code
        super().__init__(found, where=where)
        if not code.startswith("LAM-"):
            self.hint = "a limit that the operator's plug-in sets"
