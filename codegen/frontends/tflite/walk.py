"""One pass over a TFLite model's operators: problems are gathered, not raised.

Decides: that an operator which is refused poisons its results, that operators behind it are passed over silently, and
that what depends on plain constants only is computed while the model is read.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping

from codegen.errors import CompileError, GraphCyclic, InputMissing, OperatorUnknown, VersionUnknown
from codegen.frontends.folding import Budget
from codegen.frontends.tflite.fold import FOLDS, NEWEST, fold
from codegen.frontends.tflite.nodes import CUSTOM, TfliteNode
from codegen.frontends.tflite.reader import OPERATORS, Model
from codegen.frontends.tflite.tensors import Tensors
from codegen.settle.walk import Problem

_ALIKE = 0.8
"""How like a name has to be to one that is read, to be taken for a mistyped one."""
_WAYS_OUT = "--plugin FILE.py reads it (docs/plugins.md), or leave it to the firmware and compile what is behind it"


def _unknown(node: TfliteNode, known: Iterable[str]) -> OperatorUnknown:
    """Why the operator is not read, as an error to raise."""
    if node.op_type.startswith(CUSTOM):
        names = [name.removeprefix(CUSTOM) for name in known if name.startswith(CUSTOM)]
        close = difflib.get_close_matches(node.op_type.removeprefix(CUSTOM), names, n=1, cutoff=_ALIKE)
        alike = f"did you mean {close[0]}? " if close else ""
        hint = f"{alike}only its maker knows what it computes: {_WAYS_OUT}"
    elif node.op_type in OPERATORS:
        hint = "docs/operators.md lists the operators that are read"
    else:
        hint = "the file is damaged, or newer than this version of Lamina"
    spoken = f"operator {node.op_type}" if node.op_type in OPERATORS else node.op_type
    return OperatorUnknown(f"{spoken} is not supported", where=node.where, hint=hint)


def _check_known(node: TfliteNode, known: Collection[str], versions: Mapping[str, int]) -> None:
    """LAM-IMPORT-007 for an operator, and LAM-IMPORT-032 for a version, of which nothing is known."""
    if node.op_type not in known and node.op_type not in FOLDS:
        raise _unknown(node, known)
    newest = versions.get(node.op_type) or NEWEST.get(node.op_type, 1)
    if not 1 <= node.version <= newest:
        found = f"version {node.version} of {node.op_type}, known are 1 .. {newest}"
        raise VersionUnknown(found, where=node.where)


class ModelWalk(ABC):
    """The problems of a model so far; `versions` are the newest of operators, where those are not 1."""

    def __init__(self, model: Model, tensors: Tensors, known: Collection[str], versions: Mapping[str, int]) -> None:
        self._model = model
        self._graph = model.subgraphs[0]
        self._tensors = tensors
        self._operators = known
        self._versions = versions
        self.problems: list[Problem] = []
        self._poison: set[int] = set()
        self._budget = Budget()

    @abstractmethod
    def _translate(self, node: TfliteNode) -> None:
        """Write what an operator becomes."""

    @abstractmethod
    def _place(self) -> int:
        """How many nodes have been written so far."""

    @abstractmethod
    def _forget(self, place: int) -> None:
        """Drop what has been written since."""

    def _import(self, node: TfliteNode) -> None:
        before = self._place()
        try:
            _check_known(node, self._operators, self._versions)
            if any(self._is_poisoned(node, place) for place in node.inputs if place >= 0):
                self._poison.update(node.outputs)
                return
            written = [o for o in node.outputs if self._tensors.is_written(o)]
            if written:
                name = self._graph.tensors[written[0]].name
                raise GraphCyclic(f"'{name}' is written twice", where=node.where)
            self._read(node)
        except CompileError as error:
            self._forget(before)
            reads = (self._tensors.values.get(place, "") for place in node.inputs)
            self._refuse(error, node.where, tuple(filter(None, reads)))
            self._poison.update(node.outputs)

    def _read(self, node: TfliteNode) -> None:
        """Compute a constant expression, or translate a node."""
        plain = self._tensors.plain_constants(node) if node.op_type in FOLDS and len(node.outputs) == 1 else None
        if plain is None:
            self._translate(node)
            return
        array = fold(node, plain, self._tensors.result(node))
        self._budget.charge([array], node.where)
        self._tensors.know(node, array)

    def _is_poisoned(self, node: TfliteNode, place: int) -> bool:
        """Whether an input cannot be read; raises when that is this operator's own problem."""
        tensor = self._tensors.record(place)
        if place in self._poison:
            return True
        if tensor.problem is not None:
            raise tensor.problem
        known = tensor.data is not None or tensor.is_variable or place in self._tensors.variables.handles
        if not known and place not in self._tensors.values:
            raise InputMissing(f"nothing has written its input '{tensor.name}'", where=node.where)
        return False

    def _refuse(self, error: CompileError, where: str, reads: tuple[str, ...] = ()) -> None:
        """Gather a problem; errors of the operators themselves learn which node they are about."""
        if not error.where.startswith(("node", "tensor", "operator")):
            error.where = where
        self.problems.append(Problem(self._place(), error, reads))
