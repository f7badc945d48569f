"""TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble as tables.  Source: onnx/docs/Operators-ml.md.

Decides: the order of nodes: each one's next node is where its relation holds, so that a table needs the other way
only; and that a question for membership is one for each member.  Thresholds of 64 bits are brought to those of 32 that
part the same float32 numbers; where the numbers have 64 bits themselves, both are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from onnx import numpy_helper

from codegen.errors import AttributeBad, FormUnsupported, ModelTooLarge, ShapeMismatch
from codegen.frontends.onnx.nodes import ML_DOMAIN, OnnxNode, text_of
from codegen.frontends.onnx.real.learned import class_labels, classified, constant, real_input, transformed
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.ir.quant import Array
from codegen.real.elementwise import Cast
from codegen.real.trees import NAN_HOLDS, RELATIONS, Aggregate, Trees
from codegen.records import record

Key = Hashable
_MODES = {
    "BRANCH_LEQ": "<=",
    "BRANCH_LT": "<",
    "BRANCH_GTE": ">=",
    "BRANCH_GT": ">",
    "BRANCH_EQ": "==",
    "BRANCH_NEQ": "!=",
}
_LARGEST = 1 << 20
_FEATURES = 1 << 15
_AGGREGATES: Mapping[str, Aggregate] = {"AVERAGE": "mean", "SUM": "sum", "MIN": "minimum", "MAX": "maximum"}
_EXTREMES = ("minimum", "maximum")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@record
class Fork:
    """A question, where its answers lead, and whether NaN goes where it holds; several thresholds are members."""

    feature: int
    relation: str
    thresholds: tuple[float, ...]
    holds: Key
    otherwise: Key
    nan: bool = False


@record(eq=False)
class Forest:
    """All trees: what each key leads to, a fork or weights of targets, and where trees begin."""

    forks: Mapping[Key, Fork]
    leaves: Mapping[Key, Array]
    roots: Sequence[Key]
    targets: int


@dataclass(slots=True, eq=False)
class _Tables:
    parts: bool
    thresholds: list[float]
    features: list[int]
    otherwise: list[int]
    codes: list[int]
    leaves: dict[bytes, int]


def written(r: Reading, node: OnnxNode, forest: Forest, base: Sequence[float], aggregate: Aggregate = "sum") -> str:
    """The scores of each row."""
    x = real_input(r, node)
    if any(np.isnan(row).any() for row in forest.leaves.values()) and aggregate in _EXTREMES:
        raise FormUnsupported(f"the {aggregate} of trees that do not speak of all targets", where=node.where)
    width = (r.type(x).shape or (0,))[-1]
    most = max((f.feature for f in forest.forks.values()), default=0)
    if most >= min(width, _FEATURES) or len(r.type(x).shape) != 2:
        raise ShapeMismatch(f"feature {most} of a tensor {list(r.type(x).shape)}", where=node.where)
    made = _Tables(r.type(r.value(node, 0)).dtype != np.float64, [], [], [], [], {})
    roots = [_laid(node, forest, root, made) for root in forest.roots]
    single = {c for c, f in zip(made.codes, made.features, strict=True) if f >= 0}
    plain = len(single) < 2 and max(single, default=0) < NAN_HOLDS
    relation = RELATIONS[max(single, default=0)] if plain else ""
    leaves = np.frombuffer(b"".join(made.leaves), np.float32).reshape(-1, forest.targets)
    tables: dict[str, Array] = {
        "thresholds": np.array(made.thresholds, np.float32),
        "features": np.array(made.features, np.int16),
        "otherwise": np.array(made.otherwise, np.int32),
        "leaves": leaves,
        "roots": np.array(roots, np.int32),
        "base": np.array(base, np.float32),
    }
    if not plain:
        tables["codes"] = np.array(made.codes, np.int8)
    constants = [constant(r, node, name, table) for name, table in tables.items()]
    return r.apply(Trees(relation, aggregate), [x, *constants], node, "scores")


def _laid(node: OnnxNode, forest: Forest, root: Key, made: _Tables) -> int:
    """Write a tree behind the tables and return where it begins; what does not hold is written later."""
    first, waiting, seen = len(made.features), [(root, -1)], set[Key]()
    shared = any(isinstance(key, Fork) for key in forest.forks)
    while waiting:
        key, asked = waiting.pop()
        if asked >= 0:
            made.otherwise[asked] = len(made.features)
        while key is not None:
            if len(made.features) > _LARGEST:
                raise ModelTooLarge(f"trees of more than {_LARGEST} nodes", where=node.where)
            fork = forest.forks.get(key)
            if fork is None:
                _leaf(node, forest, key, made)
                break
            if key in seen and not shared:
                raise AttributeBad(f"two ways to node {key} of a tree", where=node.where)
            seen.add(key)
            key = _asked(fork, waiting, made)
    return first


def _asked(fork: Fork, waiting: list[tuple[Key, int]], made: _Tables) -> Key:
    """Write a question and return where what holds leads."""
    threshold = fork.thresholds[0]
    made.thresholds.append(parting(threshold, fork.relation) if made.parts else threshold)
    made.features.append(fork.feature)
    made.otherwise.append(0)
    made.codes.append(RELATIONS.index(fork.relation) + NAN_HOLDS * fork.nan)
    waiting.append((fork.otherwise, len(made.features) - 1))
    return fork.holds


def _leaf(node: OnnxNode, forest: Forest, key: Key, made: _Tables) -> None:
    weights = forest.leaves.get(key)
    if weights is None:
        raise AttributeBad(f"a branch leads to node {key}, which there is not", where=node.where)
    made.thresholds.append(0.0)
    made.features.append(-1)
    made.otherwise.append(made.leaves.setdefault(weights.astype(np.float32).tobytes(), len(made.leaves)))
    made.codes.append(0)


def parting(threshold: float, relation: str) -> float:
    """The float32 number that parts float32 numbers as one of 64 bits does."""
    near = np.float32(threshold)
    if float(near) == threshold or relation in ("==", "!="):
        return float(near)
    down = relation in ("<=", ">")
    if down and float(near) > threshold:
        near = np.nextafter(near, np.float32(-np.inf))
    if not down and float(near) < threshold:
        near = np.nextafter(near, np.float32(np.inf))
    return float(near)


# Operator sets 1 and 3


def _listed(node: OnnxNode, name: str) -> Array:
    """A list of numbers, or the tensor of 64-bit ones in its place."""
    if node.has(f"{name}_as_tensor"):
        return np.asarray(numpy_helper.to_array(node.tensor(f"{name}_as_tensor")), np.float64).reshape(-1)
    return np.array(node.numbers(name), np.float64)


def _forest(node: OnnxNode, side: str, targets: int, aggregate: Aggregate = "sum") -> Forest:
    """Nodes named by tree and number; `side` is what the lists of weights are called after."""
    trees, numbers = node.integers("nodes_treeids", ()), node.integers("nodes_nodeids", ())
    count = len(numbers)
    yes, no = node.integers("nodes_truenodeids", count=count), node.integers("nodes_falsenodeids", count=count)
    features, values = node.integers("nodes_featureids", count=count, low=0), _listed(node, "nodes_values")
    modes = [text_of(m) for m in node.attributes["nodes_modes"].strings] if node.has("nodes_modes") else []
    nan = node.integers("nodes_missing_value_tracks_true", ()) or (0,) * count
    if not len(trees) == len(values) == len(modes) == len(nan) == count or not count:
        raise AttributeBad(f"lists of different lengths for {count} nodes", where=node.where)
    keys = list(zip(trees, numbers, strict=True))
    if len(set(keys)) < count or set(modes) - {*_MODES, "LEAF"}:
        raise AttributeBad("nodes that are there twice, or of an unknown mode", where=node.where)
    forks: dict[Key, Fork] = {}
    for i, (tree, _) in enumerate(keys):
        if modes[i] != "LEAF":
            relation = _MODES[modes[i]]
            ends = ((tree, yes[i]), (tree, no[i]))
            forks[keys[i]] = Fork(features[i], relation, (float(values[i]),), *ends, bool(nan[i]))
    rows = [k for k in keys if k not in forks]
    leaves = _weights(node, side, rows, np.full(targets, _unsaid(aggregate)))
    return Forest(forks, leaves, _roots(node, keys, forks), targets)


def _roots(node: OnnxNode, keys: Sequence[tuple[int, int]], forks: Mapping[Key, Fork]) -> list[Key]:
    """Of each tree the node to which no other leads."""
    reached = {end for f in forks.values() for end in (f.holds, f.otherwise)}
    roots = [k for k in keys if k not in reached]
    if len({tree for tree, _ in roots}) != len(roots) or len(roots) != len({tree for tree, _ in keys}):
        raise AttributeBad("a tree without a root, or with several", where=node.where)
    return list(roots)


def _unsaid(aggregate: Aggregate) -> float:
    """What a leaf has of a target that it does not speak of: nothing to a sum, and what no extreme may be made of."""
    return math.nan if aggregate in _EXTREMES else 0.0


def _weights(node: OnnxNode, side: str, keys: Sequence[Key], unsaid: Array) -> dict[Key, Array]:
    """The weights of each leaf; several of one target are a sum."""
    found: dict[Key, Array] = {key: unsaid.copy() for key in keys}
    trees, numbers = node.integers(f"{side}_treeids", ()), node.integers(f"{side}_nodeids", ())
    ids, weights = node.integers(f"{side}_ids", ()), _listed(node, f"{side}_weights")
    if not len(trees) == len(numbers) == len(ids) == len(weights):
        raise AttributeBad(f"lists of different lengths for the weights of {len(ids)} leaves", where=node.where)
    for key, target, weight in zip(zip(trees, numbers, strict=True), ids, weights, strict=True):
        if key not in found or not 0 <= target < len(unsaid):
            raise AttributeBad(f"a weight of target {target} at node {key}, which is no leaf", where=node.where)
        row = found[key]
        row[target] = weight if np.array_equal(row[target], unsaid[target], equal_nan=True) else row[target] + weight
    return found


def _base(node: OnnxNode, targets: int) -> tuple[float, ...]:
    base = tuple(_listed(node, "base_values").tolist()) or (0.0,) * targets
    if len(base) != targets:
        raise AttributeBad(f"{len(base)} base values for {targets} targets", where=node.where)
    return base


def regressor(r: Reading, node: OnnxNode) -> Sequence[str]:
    """TreeEnsembleRegressor."""
    targets = node.integer("n_targets", 1, low=1, high=1 << 16)
    aggregate = _AGGREGATES[node.string("aggregate_function", "SUM", tuple(_AGGREGATES))]
    scores = written(r, node, _forest(node, "target", targets, aggregate), _base(node, targets), aggregate)
    return [transformed(r, node, scores)]


def classifier(r: Reading, node: OnnxNode) -> Sequence[str]:
    """TreeEnsembleClassifier; the weights of only one of two classes are those of the second."""
    labels = class_labels(r, node, "classlabels_int64s")
    ids = set(node.integers("class_ids", ()))
    if len(labels) == 2 and len(ids) == 1:
        return _of_two(r, node, labels, ids.pop())
    forest = _forest(node, "class", len(labels))
    return classified(r, node, written(r, node, forest, _base(node, len(labels))), labels)


def _of_two(r: Reading, node: OnnxNode, labels: Array, only: int) -> Sequence[str]:
    forest = _forest(node, "class", max(only, 0) + 1)
    leaves = {key: row[-1:] for key, row in forest.leaves.items()}
    base = tuple(_listed(node, "base_values").tolist()) or (0.0,)
    scores = written(r, node, replace(forest, leaves=leaves, targets=1), base[-1:])
    shares = all(float(row[0]) >= 0 for row in leaves.values())
    return classified(r, node, scores, labels, shares=shares, alone=only == 1)


# Operator set 5


def ensemble(r: Reading, node: OnnxNode) -> Sequence[str]:
    """TreeEnsemble."""
    targets = node.integer("n_targets", 1, low=1, high=1 << 16)
    aggregate = list(_AGGREGATES.values())[node.integer("aggregate_function", 1, low=0, high=3)]
    kind = _TRANSFORMS[node.integer("post_transform", 0, low=0, high=4)]
    if kind != "NONE":
        raise FormUnsupported(f"post_transform {kind}", where=node.where)
    try:
        forest = _numbered(node, np.full(targets, _unsaid(aggregate)))
    except IndexError:
        raise AttributeBad("a number of a node or leaf beyond the lists", where=node.where) from None
    scores = written(r, node, forest, (0.0,) * targets, aggregate)
    given = r.type(r.value(node, 0)).dtype
    return [scores if given == np.float32 else r.apply(Cast(given.name), [scores], node)]


def _numbered(node: OnnxNode, unsaid: Array) -> Forest:
    """Nodes and leaves by their places in the lists."""
    splits, modes = (numpy_helper.to_array(node.tensor(n)).reshape(-1) for n in ("nodes_splits", "nodes_modes"))
    count = len(modes)
    features = node.integers("nodes_featureids", count=count, low=0)
    ends = [
        [_end(k, leaf) for k, leaf in zip(node.integers(f"nodes_{way}nodeids", count=count), flags, strict=True)]
        for way in ("true", "false")
        for flags in [node.integers(f"nodes_{way}leafs", count=count)]
    ]
    nan = node.integers("nodes_missing_value_tracks_true", ()) or (0,) * count
    members = _members(node)
    if len(splits) != count or len(nan) != count:
        raise AttributeBad(f"lists of different lengths for {count} nodes", where=node.where)
    forks: dict[Key, Fork] = {}
    for i in range(count):
        relation = "==" if modes[i] == len(_MODES) else list(_MODES.values())[modes[i]]
        values = tuple(members.pop(0)) if modes[i] == len(_MODES) else (float(splits[i]),)
        _fork(forks, ("node", i), Fork(features[i], relation, values, ends[0][i], ends[1][i], bool(nan[i])))
    leaves = _flat_leaves(node, unsaid)
    return Forest(forks, leaves, [("node", i) for i in node.integers("tree_roots")], len(unsaid))


def _end(number: int, leaf: int) -> Key:
    return ("leaf" if leaf else "node", number)


def _fork(forks: dict[Key, Fork], key: Key, fork: Fork) -> None:
    """A question; of several members one for each, the later ones where the earlier do not hold."""
    first, *rest = fork.thresholds
    forks[key] = fork
    if rest:
        more = replace(fork, thresholds=tuple(rest))
        forks[key] = replace(fork, thresholds=(first,), otherwise=more)
        _fork(forks, more, more)


def _members(node: OnnxNode) -> list[list[float]]:
    """Sets of members, in the order of the nodes that ask for them; NaN ends each."""
    sets: list[list[float]] = [[]]
    if node.has("membership_values"):
        for value in numpy_helper.to_array(node.tensor("membership_values")).reshape(-1).tolist():
            sets[-1].append(value) if value == value else sets.append([])
    return [members for members in sets if members]


def _flat_leaves(node: OnnxNode, unsaid: Array) -> dict[Key, Array]:
    ids, weights = node.integers("leaf_targetids", low=0), numpy_helper.to_array(node.tensor("leaf_weights"))
    if len(ids) != weights.size or max(ids, default=0) >= len(unsaid):
        raise AttributeBad(f"{weights.size} weights of leaves for {len(ids)} targets", where=node.where)
    rows = np.tile(unsaid, (len(ids), 1))
    rows[np.arange(len(ids)), list(ids)] = weights.reshape(-1)
    return {("leaf", i): row for i, row in enumerate(rows)}


TRANSLATORS: Table = {
    (ML_DOMAIN, "TreeEnsemble"): ensemble,
    (ML_DOMAIN, "TreeEnsembleClassifier"): classifier,
    (ML_DOMAIN, "TreeEnsembleRegressor"): regressor,
}
