"""SVMClassifier and SVMRegressor: kernels of the row and each support vector.  Source: onnx/docs/Operators-ml.md.

Decides: that the votes and scores are those of ONNX Runtime where the document leaves them open, and that distances
are those from the middle of the support vectors, so that a product has them: |x - v|^2 = |x|^2 - 2 x v + |v|^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from codegen.errors import AttributeBad, FormUnsupported, ShapeMismatch
from codegen.frontends.onnx.nodes import ML_DOMAIN, OnnxNode
from codegen.frontends.onnx.real.learned import class_labels, constant, real_input, transformed
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.frontends.onnx.real.reduce import best_of
from codegen.ir.quant import Array
from codegen.real.elementwise import Binary, Cast, Clip, Function
from codegen.real.movement import Concat, Gather, Reshape
from codegen.real.product import Dense
from codegen.real.reduce import Reduce
from codegen.records import record

_KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")
_NO_CHANCES = "export without probabilities: SVC(probability=False)"
_LEAST = float(np.float32(1e-7))
"""What a probability is kept away from 0 and 1 by."""


@record
class Machine:
    """Kernels of rows and support vectors, [S, F] in float64; of none of them the rows themselves are multiplied."""

    r: Reading
    node: OnnxNode
    x: str
    vectors: Array

    def kernels(self) -> str:
        """What each row and each support vector give together."""
        kind = self.node.string("kernel_type", "LINEAR", _KERNELS)
        gamma, offset, degree = self.node.numbers("kernel_params", 3) if kind != "LINEAR" else (1.0, 0.0, 1.0)
        if kind == "RBF":
            return self._distances(gamma)
        products = self.product(self.x, gamma * self.vectors, np.full(len(self.vectors), offset), "kernels")
        if kind == "SIGMOID":
            return self.r.apply(Function("Tanh"), [products], self.node, "bent")
        if kind == "POLY" and degree != 1:
            raised = self.const("degree", np.array(degree))
            return self.r.apply(Binary("Pow"), [products, raised], self.node, "raised")
        return products

    def _distances(self, gamma: float) -> str:
        middle = self.vectors.mean(0).astype(np.float32)
        away = self.vectors - middle
        x = self.r.apply(Binary("Sub"), [self.x, self.const("middle", middle)], self.node, "moved")
        both = self.product(x, 2 * gamma * away, -gamma * (away**2).sum(1), "kernels")
        size = self.r.apply(Reduce("SumSquare", (1,)), [x], self.node, "sizes")
        size = self.r.apply(Binary("Mul"), [size, self.const("gamma", np.array(gamma))], self.node, "scaled")
        return self.r.apply(
            Function("Exp"), [self.r.apply(Binary("Sub"), [both, size], self.node, "near")], self.node, "e"
        )

    def product(self, x: str, weights: Array, bias: Array, name: str) -> str:
        """Rows times weights, plus a bias."""
        parts = self.const(f"{name} weights", weights), self.const(f"{name} bias", bias)
        return self.r.apply(Dense(), [x, *parts], self.node, name)

    def const(self, name: str, array: Array) -> str:
        """A constant of float32 numbers."""
        return constant(self.r, self.node, name, np.asarray(array).astype(np.float32))


def _machine(r: Reading, node: OnnxNode, count: int) -> Machine:
    """The rows, and as many support vectors as are said."""
    x, numbers = real_input(r, node), np.array(node.numbers("support_vectors"), np.float64)
    shape = r.type(x).shape
    if len(shape) not in (1, 2) or len(numbers) != count * shape[-1]:
        raise ShapeMismatch(
            f"{len(numbers)} numbers of {count} support vectors for rows of {list(shape)}", where=node.where
        )
    x = x if len(shape) == 2 else r.apply(Reshape((1, *shape)), [x], node, "row")
    return Machine(r, node, x, numbers.reshape(count, shape[-1]))


def _listed(node: OnnxNode, name: str, count: int) -> Array:
    """A list of so many numbers."""
    return np.array(node.numbers(name, count), np.float64)


def regressor(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SVMRegressor: kernels times coefficients; of one class, 1 where that is above 0 and -1 elsewhere."""
    count = node.integer("n_supports", 0, low=0, high=1 << 20)
    machine, bias = _machine(r, node, count), _listed(node, "rho", 1)
    kernels = machine.kernels() if count else machine.x
    weights = _listed(node, "coefficients", r.type(kernels).shape[1])
    y = machine.product(kernels, weights[None], bias, "sums")
    if node.flag("one_class"):
        above = r.apply(Binary("Greater"), [y, machine.const("nothing", np.array(0))], node, "above")
        ends = constant(r, node, "ends", np.array([-1, 1], np.float32))
        y = r.apply(Gather(0), [ends, r.apply(Cast("int64"), [above], node, "which")], node, "side")
    return [transformed(r, node, y)]


def classifier(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SVMClassifier: a vote of each two classes where there are support vectors, otherwise a score of each class."""
    labels, per_class = class_labels(r, node, "classlabels_ints"), node.integers("vectors_per_class", (), low=0)
    machine = _machine(r, node, sum(per_class))
    if not sum(per_class):
        at, scores = _linear(machine, len(labels))
    elif len(per_class) != len(labels) or len(labels) < 2:
        raise AttributeBad(f"{len(per_class)} counts of vectors for {len(labels)} labels", where=node.where)
    else:
        at, scores = _voted(machine, per_class)
    found = r.apply(Gather(0), [constant(r, node, "labels", labels), at], node, "label")
    return [found, transformed(r, node, scores)]


def _linear(machine: Machine, classes: int) -> tuple[str, str]:
    """The best class, and the score of each."""
    r, node = machine.r, machine.node
    weights = _listed(node, "coefficients", classes * r.type(machine.x).shape[1]).reshape(classes, -1)
    if node.has("prob_a"):
        raise FormUnsupported("probabilities without support vectors", where=node.where, hint=_NO_CHANCES)
    rho = np.array(node.numbers("rho"), np.float64)
    if not len(rho):
        raise AttributeBad("attribute rho is missing", where=node.where)
    scores = machine.product(machine.x, weights, np.full(classes, rho[0]), "sums")
    return best_of(r, node, scores, "best"), scores


def _voted(machine: Machine, per_class: Sequence[int]) -> tuple[str, str]:
    """The class with most votes, the first of equal ones; and the score of each two, the first one's where above 0."""
    r, node, classes = machine.r, machine.node, len(per_class)
    pairs = list(combinations(range(classes), 2))
    given = _listed(node, "coefficients", (classes - 1) * sum(per_class)).reshape(classes - 1, -1)
    owner = np.repeat(np.arange(classes), per_class)
    weights = np.array([np.where(owner == i, given[j - 1], np.where(owner == j, given[i], 0)) for i, j in pairs])
    scores = machine.product(machine.kernels(), weights, _listed(node, "rho", len(pairs)), "sums")
    nothing = machine.const("nothing", np.array(0))
    won = r.apply(Cast("float32"), [r.apply(Binary("Greater"), [scores, nothing], node, "above")], node, "won")
    counts = np.array([[float(c == i) - float(c == j) for i, j in pairs] for c in range(classes)])
    lost = np.array([sum(c == j for _, j in pairs) for c in range(classes)])
    at = best_of(r, node, machine.product(won, counts, lost, "votes"), "best")
    if node.has("prob_a"):
        return at, _likely(machine, scores, classes)
    if classes > 2:
        return at, scores
    other = r.apply(Function("Neg"), [scores], node, "other")
    return at, r.apply(Concat(1), [other, scores], node, "both")


def _likely(machine: Machine, scores: str, classes: int) -> str:
    """How likely two classes are: 1 / (1 + exp(a s + b)) is the first one's."""
    r, node = machine.r, machine.node
    if classes > 2:
        raise FormUnsupported("probabilities of more than two classes", where=node.where, hint=_NO_CHANCES)
    slope, offset = (machine.const(name, -_listed(node, name, 1)) for name in ("prob_a", "prob_b"))
    bent = r.apply(Binary("Add"), [r.apply(Binary("Mul"), [scores, slope], node, "sloped"), offset], node, "logit")
    first = r.apply(Function("Sigmoid"), [bent], node, "chance")
    first = r.apply(Clip(_LEAST, 1 - _LEAST), [first], node, "first")
    second = r.apply(Binary("Sub"), [machine.const("whole", np.array(1)), first], node, "second")
    return r.apply(Concat(1), [first, second], node, "both")


TRANSLATORS: Table = {
    (ML_DOMAIN, "SVMClassifier"): classifier,
    (ML_DOMAIN, "SVMRegressor"): regressor,
}
