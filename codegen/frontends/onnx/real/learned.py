"""Classical learning: scaling, encoding and linear models of numbers.  Source: onnx/docs/Operators-ml.md.

Decides: that labels are whole numbers, the number of each where they are strings; that what is no float is brought to
float32 first; and that a ZipMap gives what it would make maps of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from codegen.errors import AttributeBad, FormUnsupported, ShapeMismatch, StringsUnsupported, TensorBad, TypeUnsupported
from codegen.frontends.onnx.nodes import ML_DOMAIN, OnnxNode, text_of
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.frontends.onnx.real.reduce import best_of
from codegen.ir.quant import Array
from codegen.real.bits import IsNaN
from codegen.real.elementwise import Binary, Cast, Function, Where
from codegen.real.movement import Concat, Gather, Reshape
from codegen.real.normal import LpNorm
from codegen.real.product import Dense
from codegen.real.reduce import Reduce, Softmax

_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_SHOWN = 20
"""Labels that a note spells."""


def real_input(r: Reading, node: OnnxNode, index: int = 0) -> str:
    """An input as float32."""
    x = r.value(node, index)
    return x if r.type(x).dtype == np.float32 else r.apply(Cast("float32"), [x], node, "real")


def constant(r: Reading, node: OnnxNode, name: str, array: Array) -> str:
    """A constant beside the node."""
    return r.constant(f"{node.outputs[0]}:{name}", array)


def _row(r: Reading, node: OnnxNode, name: str, default: float) -> str:
    """A list of one number, or one for each feature."""
    numbers = node.numbers(name) or (default,)
    features = r.type(r.value(node, 0)).shape[-1:]
    if len(numbers) != 1 and features != (len(numbers),):
        raise ShapeMismatch(f"attribute {name} has {len(numbers)} entries for {list(features)}", where=node.where)
    return constant(r, node, name, np.array(numbers, np.float32))


def scaler(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Scaler: less the offset, times the scale."""
    x = r.apply(Binary("Sub"), [real_input(r, node), _row(r, node, "offset", 0.0)], node, "moved")
    return [r.apply(Binary("Mul"), [x, _row(r, node, "scale", 1.0)], node)]


def normalizer(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Normalizer: each row by its size; a row of zeros stays."""
    kind, x = node.string("norm", "MAX", ("MAX", "L1", "L2")), real_input(r, node)
    axis = len(r.type(x).shape) - 1
    if axis < 0:
        raise ShapeMismatch("a single number is no row", where=node.where)
    if kind != "MAX":
        return [r.apply(LpNorm(axis, 1 if kind == "L1" else 2), [x], node)]
    most = r.apply(Reduce("Max", (axis,)), [x], node, "most")
    zero, one = (constant(r, node, str(v), np.array(v, np.float32)) for v in (0, 1))
    none = r.apply(Binary("Equal"), [most, zero], node, "none")
    return [r.apply(Binary("Div"), [x, r.apply(Where(), [none, one, most], node, "size")], node)]


def binarizer(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Binarizer: 1 above the threshold."""
    x = real_input(r, node)
    above = constant(r, node, "threshold", np.array(node.real("threshold", 0.0), np.float32))
    return [r.apply(Cast("float32"), [r.apply(Binary("Greater"), [x, above], node, "above")], node)]


def imputer(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Imputer: another number where there is NaN, or the number that stands for a missing one."""
    if node.has("imputed_value_int64s"):
        raise TypeUnsupported("missing whole numbers", where=node.where)
    x, missing = real_input(r, node), node.attributes.get("replaced_value_float")
    found = _row(r, node, "imputed_value_floats", 0.0)
    number = float(missing.f) if missing is not None else 0.0
    if np.isnan(number):
        flag = r.apply(IsNaN(), [x], node, "missing")
    else:
        flag = r.apply(Binary("Equal"), [x, constant(r, node, "lost", np.array(number, np.float32))], node, "missing")
    return [r.apply(Where(), [flag, found, x], node)]


def feature_extractor(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ArrayFeatureExtractor: columns by number."""
    x = r.value(node, 0)
    if not r.type(x).shape:
        raise ShapeMismatch("a single number has no columns", where=node.where)
    at = r.apply(Reshape((math.prod(r.type(r.value(node, 1)).shape),)), [r.value(node, 1)], node, "at")
    picked = r.apply(Gather(len(r.type(x).shape) - 1), [x, at], node, "picked")
    shape = r.type(picked).shape
    return [r.apply(Reshape((math.prod(shape[:-1]), shape[-1])), [picked], node)]


def is_picked_from(name: str, nodes: Iterable[OnnxNode], reads: int) -> bool:
    """Whether all the `reads` of a constant in the network are those of ArrayFeatureExtractors that pick from it."""
    picks = [n for n in nodes if (n.domain, n.op_type) == (ML_DOMAIN, "ArrayFeatureExtractor")]
    return sum(n.inputs[:1] == (name,) for n in picks) == reads


def label_table(r: Reading, name: str, tensor: Any) -> str:
    """The number of each label of a list of strings, 0 for the first, in place of the strings."""
    texts = [text_of(s) for s in tensor.string_data]
    if list(tensor.dims) != [len(texts)]:
        raise TensorBad(f"shape {list(tensor.dims)} for {len(texts)} strings", where=f"constant '{name}'")
    r.note(f"constant '{name}' gives the number of a label, not its string: {_spelled(texts)}")
    return r.constant(name, np.arange(len(texts)))


def feature_vectorizer(r: Reading, node: OnnxNode) -> Sequence[str]:
    """FeatureVectorizer: rows beside each other."""
    parts = [real_input(r, node, i) for i in range(len(node.inputs))]
    parts = [p if len(r.type(p).shape) > 1 else r.apply(Reshape((1, -1)), [p], node, "row") for p in parts]
    return [r.apply(Concat(1), parts, node)]


def label_encoder(r: Reading, node: OnnxNode) -> Sequence[str]:
    """LabelEncoder of numbers: the value of an equal key, or the default."""
    x = r.value(node, 0)
    keys, values, default = _labels(node)
    if len(keys) != len(values) or not len(keys):
        raise AttributeBad(f"{len(keys)} keys for {len(values)} values", where=node.where)
    shape = r.type(x).shape
    wide = r.apply(Reshape((*shape, 1)), [x], node, "wide")
    known = constant(r, node, "keys", keys.astype(r.type(x).dtype))
    hits = r.apply(Cast("float32"), [r.apply(Binary("Equal"), [wide, known], node, "hit")], node, "hits")
    none = constant(r, node, "none", np.full((*shape, 1), 0.5, np.float32))
    every = r.apply(Concat(len(shape)), [hits, none], node, "every")
    at = best_of(r, node, every, "at")
    table = constant(r, node, "values", np.append(values, default).astype(values.dtype))
    return [r.apply(Gather(0), [table, at], node)]


def _labels(node: OnnxNode) -> tuple[Array, Array, float]:
    """Keys, values, and what stands for the others."""
    if any(node.has(f"{side}_strings") for side in ("keys", "values")) or node.has("classes_strings"):
        raise StringsUnsupported.of("labels that are strings", node.where)
    if node.has("keys_tensor") or node.has("values_tensor"):
        raise FormUnsupported("LabelEncoder with tensors", where=node.where)
    keys = node.integers("keys_int64s", ()) if node.has("keys_int64s") else node.numbers("keys_floats")
    if node.has("values_int64s"):
        return np.array(keys), np.array(node.integers("values_int64s")), node.integer("default_int64", -1)
    return np.array(keys), np.array(node.numbers("values_floats"), np.float32), node.real("default_float", -0.0)


def one_hot_encoder(r: Reading, node: OnnxNode) -> Sequence[str]:
    """OneHotEncoder of numbers: 1 at an equal category; nowhere where there is none."""
    if node.has("cats_strings"):
        raise StringsUnsupported.of("categories that are strings", node.where)
    x, cats = r.value(node, 0), np.array(node.integers("cats_int64s"))
    wide = r.apply(Reshape((*r.type(x).shape, 1)), [x], node, "wide")
    hits = r.apply(Binary("Equal"), [wide, constant(r, node, "cats", cats.astype(r.type(x).dtype))], node, "hit")
    return [r.apply(Cast("float32"), [hits], node)]


def linear_regressor(r: Reading, node: OnnxNode) -> Sequence[str]:
    """LinearRegressor."""
    targets = node.integer("targets", 1, low=1, high=1 << 16)
    return [transformed(r, node, _scores(r, node, targets))]


def linear_classifier(r: Reading, node: OnnxNode) -> Sequence[str]:
    """LinearClassifier: the label of the best score, and the scores."""
    labels = class_labels(r, node, "classlabels_ints")
    bias = len(node.numbers("intercepts"))
    rows = bias or len(labels)
    return classified(r, node, _scores(r, node, rows), labels)


def _scores(r: Reading, node: OnnxNode, rows: int) -> str:
    """Coefficients times each row, plus the intercepts."""
    x = real_input(r, node)
    coefficients, shape = node.numbers("coefficients"), r.type(x).shape
    if len(shape) < 1 or len(coefficients) != rows * shape[-1]:
        raise ShapeMismatch(f"{len(coefficients)} coefficients for rows of {list(shape)}", where=node.where)
    x = x if len(shape) > 1 else r.apply(Reshape((1, *shape)), [x], node, "row")
    bias = node.numbers("intercepts") or (0.0,) * rows
    if len(bias) != rows:
        raise AttributeBad(f"{len(bias)} intercepts for {rows} rows of coefficients", where=node.where)
    weights = constant(r, node, "coefficients", np.array(coefficients, np.float32).reshape(rows, -1))
    return r.apply(Dense(), [x, weights, constant(r, node, "intercepts", np.array(bias, np.float32))], node, "scores")


def class_labels(r: Reading, node: OnnxNode, name: str) -> Array:
    """The labels, which are whole numbers; where they are strings, the number of each."""
    strings = _strings(node, "classlabels_strings")
    if strings:
        r.note(f"{node.where} gives the number of a label, not its string: {_spelled(strings)}")
        return np.arange(len(strings))
    labels = node.integers(name, ())
    if not labels:
        raise AttributeBad(f"attribute {name} is missing", where=node.where)
    return np.array(labels, np.int64)


def transformed(r: Reading, node: OnnxNode, scores: str) -> str:
    """What `post_transform` makes of scores."""
    kind = node.string("post_transform", "NONE", _TRANSFORMS)
    if kind == "SOFTMAX":
        return r.apply(Softmax((len(r.type(scores).shape) - 1,)), [scores], node, "shares")
    if kind == "LOGISTIC":
        return r.apply(Function("Sigmoid"), [scores], node, "shares")
    if kind != "NONE":
        raise FormUnsupported(f"post_transform {kind}", where=node.where, hint="NONE, SOFTMAX and LOGISTIC are read")
    return scores


def classified(
    r: Reading, node: OnnxNode, scores: str, labels: Array, *, shares: bool = False, alone: bool = False
) -> Sequence[str]:
    """The label and the scores of each row; a single score is that of the second of two labels.

    `shares`: a single score is between 0 and 1, and what is left of 1 is the first label's, or 0 where it is `alone`.
    """
    columns = r.type(scores).shape[-1]
    if columns not in (1, len(labels)) or (columns == 1 and len(labels) > 2):
        raise ShapeMismatch(f"{columns} scores for {len(labels)} labels", where=node.where)
    if columns == len(labels):
        at = best_of(r, node, scores, "best")
        scores = transformed(r, node, scores)
    else:
        middle = constant(r, node, "middle", np.array(0.5 if shares else 0.0, np.float32))
        above = r.apply(Binary("Greater"), [scores, middle], node, "above")
        at = r.apply(Reshape(r.type(scores).shape[:1]), [r.apply(Cast("int64"), [above], node, "second")], node, "best")
        one = constant(r, node, "whole", np.array(1.0 if shares else 0.0, np.float32))
        none = constant(r, node, "none", np.zeros(r.type(scores).shape, np.float32))
        first = none if alone else r.apply(Binary("Sub"), [one, scores], node, "first")
        both = r.apply(Concat(1), [first, scores], node, "both")
        scores = both if shares and not alone else transformed(r, node, both)
    found = r.apply(Gather(0), [constant(r, node, "labels", labels), at], node, "label")
    return [found, scores]


def _strings(node: OnnxNode, name: str) -> list[str]:
    return [text_of(s) for s in node.attributes[name].strings] if node.has(name) else []


def _spelled(labels: Sequence[object]) -> str:
    """Each label with its number, the first ones of many."""
    shown = ", ".join(f"{i} {label}" for i, label in enumerate(labels[:_SHOWN]))
    return shown + (f", and so on to {len(labels) - 1} {labels[-1]}" if len(labels) > _SHOWN else "")


def zip_map(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ZipMap makes a map of each row, which is no tensor: it is taken off, and the scores are the result."""
    x, labels = r.value(node, 0), _strings(node, "classlabels_strings") or node.integers("classlabels_int64s", ())
    if r.type(x).shape[-1:] != (len(labels),):
        raise ShapeMismatch(f"{len(labels)} labels for rows of {list(r.type(x).shape)}", where=node.where)
    r.note(f"{node.where} is taken off: its tensor has a column for each label: {_spelled(labels)}")
    return [x]


TRANSLATORS: Table = {
    (ML_DOMAIN, "ArrayFeatureExtractor"): feature_extractor,
    (ML_DOMAIN, "Binarizer"): binarizer,
    (ML_DOMAIN, "FeatureVectorizer"): feature_vectorizer,
    (ML_DOMAIN, "Imputer"): imputer,
    (ML_DOMAIN, "LabelEncoder"): label_encoder,
    (ML_DOMAIN, "LinearClassifier"): linear_classifier,
    (ML_DOMAIN, "LinearRegressor"): linear_regressor,
    (ML_DOMAIN, "Normalizer"): normalizer,
    (ML_DOMAIN, "OneHotEncoder"): one_hot_encoder,
    (ML_DOMAIN, "Scaler"): scaler,
    (ML_DOMAIN, "ZipMap"): zip_map,
}
