"""Trees, linear models, scaling and encoding of ONNX's domain for classical learning, beside ONNX Runtime, and in C."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.errors import EngineFailed, ModelRejected
from codegen.frontends.onnx import import_onnx
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.verbs.float_engine import FloatEngine
from tests.support.onnx_files import onnx_model, port, ports_of
from tests.support.together import check_c_is_golden
from tests.support.tools import require_module, require_tool

ML = "ai.onnx.ml"
ROWS, FEATURES = 40, 5


def model_of(op: str, outputs: list[str], x: Array, *, version: int = 3, **attributes: Any) -> onnx.ModelProto:
    """A network of one operator of that domain."""
    node = helper.make_node(op, ["x"], outputs, "n", domain=ML, **attributes)
    whole = ("l", "y") if "values_int64s" in attributes else ("l",)
    made = [port(o, None, TensorProto.INT64 if o in whole else TensorProto.FLOAT) for o in outputs]
    return onnx_model([node], ports_of({"x": x}), made, sets={"": 18, ML: version})


def forest(rng: np.random.Generator, side: str, targets: int, modes: list[str], *, only: int = -1) -> dict[str, Any]:
    """Lists of nodes and weights of four random trees; all weights are of one target where `only` names it."""
    lists: dict[str, list[Any]] = {}

    def put(**values: Any) -> None:
        for name, value in values.items():
            lists.setdefault(name, []).append(value)

    def grow(tree: int, depth: int) -> int:
        number = lists.get("nodes_treeids", []).count(tree)
        leaf = depth == 0 or rng.random() < 0.2
        put(nodes_treeids=tree, nodes_nodeids=number, nodes_truenodeids=0, nodes_falsenodeids=0)
        put(nodes_featureids=int(rng.integers(FEATURES)), nodes_values=float(np.float32(rng.standard_normal())))
        put(
            nodes_modes="LEAF" if leaf else str(rng.choice(modes)), nodes_missing_value_tracks_true=int(rng.integers(2))
        )
        if leaf:
            for target in [only] if only >= 0 else range(targets):
                put(**{f"{side}_treeids": tree, f"{side}_nodeids": number, f"{side}_ids": target})
                put(**{f"{side}_weights": float(np.float32(rng.random() / 4))})
            return number
        at = len(lists["nodes_treeids"]) - 1
        lists["nodes_truenodeids"][at] = grow(tree, depth - 1)
        lists["nodes_falsenodeids"][at] = grow(tree, depth - 1)
        return number

    for tree in range(4):
        grow(tree, 4)
    return lists


def tree_cases(rng: np.random.Generator, x: Array) -> Iterator[tuple[str, onnx.ModelProto, Array]]:
    holes = np.where(rng.random(x.shape) < 0.2, np.nan, x).astype(np.float32)
    every = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    for name, modes, given in (("one", ["BRANCH_LT"], x), ("mixed", every, x), ("missing", ["BRANCH_LEQ"], holes)):
        for kind in ("SUM", "AVERAGE", "MIN", "MAX"):
            lists = forest(rng, "target", 2, modes)
            made = {"n_targets": 2, "aggregate_function": kind, "base_values": [0.5, -1.0]}
            yield f"regressor_{name}_{kind}", model_of("TreeEnsembleRegressor", ["y"], given, **lists, **made), given
    for kind in ("NONE", "SOFTMAX", "LOGISTIC"):
        lists = forest(rng, "class", 3, ["BRANCH_LEQ"])
        made = {"classlabels_int64s": [4, 7, -2], "post_transform": kind}
        yield f"classifier_{kind}", model_of("TreeEnsembleClassifier", ["l", "y"], x, **lists, **made), x
    for only in (0, 1):
        for sign in (1, -1):
            lists = forest(rng, "class", 2, ["BRANCH_LEQ"], only=only)
            weights = [sign * w * (1 if sign > 0 else float(rng.choice([1, -1]))) for w in lists["class_weights"]]
            made = lists | {"classlabels_int64s": [3, 9], "class_weights": weights}
            yield f"two_{only}_{sign}", model_of("TreeEnsembleClassifier", ["l", "y"], x, **made), x


def other_cases(rng: np.random.Generator, x: Array) -> Iterator[tuple[str, onnx.ModelProto, Array]]:
    def numbers(count: int) -> list[float]:
        return [float(np.float32(v)) for v in rng.standard_normal(count)]

    yield "scaler", model_of("Scaler", ["y"], x, offset=numbers(FEATURES), scale=numbers(FEATURES)), x
    yield "scaler_one", model_of("Scaler", ["y"], x, offset=[0.5], scale=[2.0]), x
    zeros = x.copy()
    zeros[3] = 0
    for norm in ("MAX", "L1", "L2"):
        given = np.abs(x) if norm == "MAX" else zeros
        yield f"normalizer_{norm}", model_of("Normalizer", ["y"], given, norm=norm), given
    yield "binarizer", model_of("Binarizer", ["y"], x, threshold=0.25), x
    holes = np.where(rng.random(x.shape) < 0.3, np.nan, x).astype(np.float32)
    lost = {"imputed_value_floats": numbers(FEATURES), "replaced_value_float": float("nan")}
    yield "imputer", model_of("Imputer", ["y"], holes, **lost), holes
    for post in ("NONE", "SOFTMAX", "LOGISTIC"):
        made = {"coefficients": numbers(3 * FEATURES), "intercepts": numbers(3), "post_transform": post}
        yield f"linear_{post}", model_of("LinearRegressor", ["y"], x, targets=3, **made), x
        labels = {"classlabels_ints": [5, 1, 8]}
        yield f"classes_{post}", model_of("LinearClassifier", ["l", "y"], x, **made, **labels), x
    whole = rng.integers(0, 6, (ROWS, 2))
    pairs = {"keys_int64s": [0, 1, 3], "values_int64s": [7, -9, 2], "default_int64": 40}
    yield "labels", model_of("LabelEncoder", ["y"], whole, **pairs), whole
    mixed = {"keys_int64s": [0, 5], "values_floats": [0.5, -2.5], "default_float": 9.0}
    yield "labels_real", model_of("LabelEncoder", ["y"], whole, **mixed), whole
    yield "one_hot", model_of("OneHotEncoder", ["y"], whole, cats_int64s=[1, 4, 2], zeros=1), whole


def machine_cases(rng: np.random.Generator, x: Array) -> Iterator[tuple[str, onnx.ModelProto, Array]]:
    """Support vectors with every kernel; far from 0, where squares of distances need their middle taken off."""

    def numbers(count: int, size: float = 1.0) -> list[float]:
        return [float(np.float32(v)) for v in size * rng.standard_normal(count)]

    far = x + np.float32(40)
    for kind, degree in (("LINEAR", 3.0), ("POLY", 3.0), ("POLY", 1.0), ("RBF", 3.0), ("SIGMOID", 3.0)):
        given = far if kind == "RBF" else x
        made: dict[str, Any] = {"kernel_type": kind, "kernel_params": [0.125, 0.5, degree]}
        base = 40 if kind == "RBF" else 0
        vectors = {"support_vectors": [v + base for v in numbers(6 * FEATURES)]}
        for one_class in (0, 1):
            sums = {"n_supports": 6, "coefficients": numbers(6), "rho": numbers(1), "one_class": one_class}
            model = model_of("SVMRegressor", ["y"], given, **made, **vectors, **sums)
            yield f"machine_{kind}_{degree}_{one_class}", model, given
        for labels in ([4, -7], [4, 7, 1], [9, 2, 3, 5]):
            classes = len(labels)
            counts = [6 - classes + 1, *([1] * (classes - 1))]
            sums = {"coefficients": numbers(6 * (classes - 1)), "rho": numbers(classes * (classes - 1) // 2, 0.1)}
            voting = {"classlabels_ints": labels, "vectors_per_class": counts}
            model = model_of("SVMClassifier", ["l", "y"], given, **made, **vectors, **sums, **voting)
            yield f"votes_{kind}_{degree}_{classes}", model, given
    sums = {"coefficients": numbers(FEATURES), "rho": [0.25], "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}
    yield "machine_alone", model_of("SVMRegressor", ["y"], x, **sums), x
    sums = {
        "coefficients": numbers(3 * FEATURES),
        "rho": [0.25],
        "classlabels_ints": [4, 7, 1],
        "kernel_type": "LINEAR",
        "kernel_params": [0.0, 0.0, 0.0],
    }
    yield "votes_alone", model_of("SVMClassifier", ["l", "y"], x, **sums), x


def cases() -> list[tuple[str, onnx.ModelProto, Array]]:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((ROWS, FEATURES)).astype(np.float32)
    return [*tree_cases(rng, x), *other_cases(rng, x), *machine_cases(rng, x)]


def imported(model: onnx.ModelProto, folder: Path) -> Graph:
    onnx.save(model, folder / "model.onnx")
    return import_onnx(folder / "model.onnx", mode="ort", io_layout="model")


def test_learned_models_are_those_of_onnxruntime_and_c_is_golden(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for name, model, x in cases():
        graph = imported(model, tmp_path)
        held = x.astype(np.int32) if x.dtype.kind == "i" else x
        found = run_graph(graph, {"x": held})
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for output, wanted in zip(graph.outputs, session.run(None, {"x": x}), strict=True):
            result = found[output.value].reshape(np.shape(wanted))
            assert np.allclose(result, wanted, rtol=1e-5, atol=1e-5), name
        graphs.append(graph)
        feeds.append({"x": held})
    check_c_is_golden(graphs, feeds, tmp_path / "project")


def test_a_threshold_of_64_bits_parts_numbers_of_32_as_it_does(tmp_path: Path) -> None:
    """0.1 lies below the float32 number nearest to it."""
    x = np.array([[np.nextafter(np.float32(0.1), np.float32(0))], [0.1]], np.float32)
    tree = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "nodes_featureids": [0, 0, 0],
        "nodes_values_as_tensor": numpy_helper.from_array(np.array([0.1, 0, 0])),
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights_as_tensor": numpy_helper.from_array(np.array([1.0, 2.0])),
        "n_targets": 1,
    }
    for mode, wanted in (("LEQ", [1, 2]), ("LT", [1, 2]), ("GT", [2, 1]), ("GTE", [2, 1])):
        model = model_of("TreeEnsembleRegressor", ["y"], x, nodes_modes=[f"BRANCH_{mode}", "LEAF", "LEAF"], **tree)
        graph = imported(model, tmp_path)
        assert run_graph(graph, {"x": x})[graph.outputs[0].value].reshape(-1).tolist() == wanted, mode


def _spoiled(**changed: Any) -> dict[str, Any]:
    lists = forest(np.random.default_rng(1), "target", 1, ["BRANCH_LEQ"])
    return lists | {"n_targets": 1} | changed


def _with(name: str, place: int, value: Any) -> dict[str, Any]:
    made = _spoiled()
    made[name] = [*made[name]]
    made[name][place] = value
    return made


def _loop() -> dict[str, Any]:
    made = _spoiled()
    inner = [i for i, m in enumerate(made["nodes_modes"]) if m != "LEAF" and made["nodes_nodeids"][i] > 0]
    number = made["nodes_nodeids"][inner[0]]
    return made | {
        "nodes_truenodeids": [number if i == inner[0] else v for i, v in enumerate(made["nodes_truenodeids"])]
    }


MACHINE = {"n_supports": 2, "coefficients": [1.0, -1.0], "rho": [0.0], "support_vectors": [1.0] * 2 * FEATURES}
VOTES = {
    "classlabels_ints": [1, 2],
    "vectors_per_class": [1, 1],
    "coefficients": [1.0] * 2 * FEATURES,
    "rho": [0.0],
    "support_vectors": [1.0] * 2 * FEATURES,
}
THREE = {"classlabels_ints": [1, 2, 3], "vectors_per_class": [1, 1, 0], "rho": [0.0] * 3, "coefficients": [1.0] * 4}
CHANCES = {"prob_a": [1.0], "prob_b": [1.0]}
WRONG: dict[str, tuple[str, Any, str]] = {
    "a branch to nowhere": ("TreeEnsembleRegressor", lambda: _with("nodes_truenodeids", 0, 999), "013"),
    "a loop": ("TreeEnsembleRegressor", _loop, "013"),
    "a feature that is not there": ("TreeEnsembleRegressor", lambda: _with("nodes_featureids", 0, 99), "014"),
    "an unknown question": ("TreeEnsembleRegressor", lambda: _with("nodes_modes", 0, "BRANCH_NEAR"), "013"),
    "a node twice": ("TreeEnsembleRegressor", lambda: _with("nodes_nodeids", 1, 0), "013"),
    "a short list": ("TreeEnsembleRegressor", lambda: _spoiled(nodes_values=[1.0]), "013"),
    "a weight of no target": ("TreeEnsembleRegressor", lambda: _with("target_ids", 0, 5), "013"),
    "a weight at no leaf": ("TreeEnsembleRegressor", lambda: _with("target_nodeids", 0, 0), "013"),
    "the least of trees of other targets": (
        "TreeEnsembleRegressor",
        lambda: _spoiled(aggregate_function="MIN", n_targets=2),
        "022",
    ),
    "a post transform": ("TreeEnsembleRegressor", lambda: _spoiled(post_transform="PROBIT"), "022"),
    "two base values": ("TreeEnsembleRegressor", lambda: _spoiled(base_values=[1.0, 2.0]), "013"),
    "no nodes": ("TreeEnsembleRegressor", lambda: {"n_targets": 1}, "013"),
    "keys of text": ("LabelEncoder", lambda: {"keys_strings": ["a"], "values_floats": [1.0]}, "070"),
    "other vectors than are said": ("SVMRegressor", lambda: MACHINE | {"n_supports": 3}, "014"),
    "other coefficients than vectors": ("SVMRegressor", lambda: MACHINE | {"coefficients": [1.0]}, "013"),
    "a kernel without parameters": ("SVMRegressor", lambda: MACHINE | {"kernel_type": "RBF"}, "013"),
    "vectors of other classes": ("SVMClassifier", lambda: VOTES | {"vectors_per_class": [2]}, "013"),
    "chances of three classes": ("SVMClassifier", lambda: VOTES | CHANCES | THREE, "022"),
    "chances without vectors": (
        "SVMClassifier",
        lambda: CHANCES | {"classlabels_ints": [1, 2], "coefficients": [1.0] * 2 * FEATURES, "rho": [0.0]},
        "022",
    ),
    "coefficients of other rows": ("LinearRegressor", lambda: {"coefficients": [1.0] * 4, "targets": 1}, "014"),
    "scales of other rows": ("Scaler", lambda: {"scale": [1.0] * 3, "offset": [1.0]}, "014"),
    "keys without values": ("LabelEncoder", lambda: {"keys_floats": [1.0], "values_floats": [1.0, 2.0]}, "013"),
    "an unknown norm": ("Normalizer", lambda: {"norm": "L3"}, "013"),
    "maps of other columns": ("ZipMap", lambda: {"classlabels_int64s": [1]}, "014"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_models_are_refused_with_an_id(name: str, tmp_path: Path) -> None:
    op, attributes, code = WRONG[name]
    x = np.zeros((2, FEATURES), np.float32)
    with pytest.raises(ModelRejected) as caught:
        imported(model_of(op, ["y"], x, **attributes()), tmp_path)
    assert [p.code for p in caught.value.problems()] == [f"LAM-IMPORT-{code}"]


def learned() -> dict[str, tuple[Any, str]]:
    """Models of scikit-learn, with what of theirs the last output is."""
    require_module("sklearn")
    names = ("ensemble", "linear_model", "pipeline", "preprocessing", "svm", "neural_network")
    ensemble, linear, pipeline, scaling, svm, neural = (importlib.import_module(f"sklearn.{name}") for name in names)
    return {
        "forest": (ensemble.RandomForestClassifier(5, random_state=0), "predict_proba"),
        "boosted": (ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0), "predict"),
        "trees": (ensemble.ExtraTreesRegressor(5, random_state=0), "predict"),
        "logistic": (pipeline.make_pipeline(scaling.StandardScaler(), linear.LogisticRegression()), "predict_proba"),
        "ridge": (pipeline.make_pipeline(scaling.Normalizer(), linear.Ridge()), "predict"),
        "network": (neural.MLPClassifier((8,), max_iter=50, random_state=0), "predict_proba"),
        "vectors": (svm.SVC(), "decision_function"),
    }


@pytest.mark.filterwarnings("ignore")
def test_models_of_scikit_learn_become_networks(tmp_path: Path) -> None:
    require_module("skl2onnx")
    to_onnx = importlib.import_module("skl2onnx").to_onnx
    rng = np.random.default_rng(2)
    x = rng.standard_normal((60, 4)).astype(np.float32)
    classes = (x[:, 0] > x[:, 1]).astype(int) + (x[:, 2] > 0.5)
    graphs = []
    for name, (model, told) in learned().items():
        model.fit(x, classes)
        options = {id(model): {"zipmap": False}} if told != "predict" else None
        onnx.save(to_onnx(model, x[:1], options=options), tmp_path / f"{name}.onnx")
        graph = import_onnx(tmp_path / f"{name}.onnx", mode="ort", io_layout="model", shapes={"X": x.shape})
        found = run_graph(graph, {graph.inputs[0].value: x})[graph.outputs[-1].value]
        expected = getattr(model, told)(x)
        assert np.allclose(found.reshape(expected.shape), expected, atol=1e-5), name
        graphs.append(graph)
    check_c_is_golden(graphs, [{graph.inputs[0].value: x} for graph in graphs], tmp_path / "c")


def test_chances_of_two_classes_are_where_onnxruntime_s_steps_lead(tmp_path: Path) -> None:
    """Which it leaves as soon as they are near: 0.005 over the number of classes."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((ROWS, FEATURES)).astype(np.float32)
    made = VOTES | {"coefficients": [1.0, -1.0], "support_vectors": rng.standard_normal(2 * FEATURES).tolist()}
    made |= {"prob_a": [-2.0], "prob_b": [0.25], "kernel_type": "RBF", "kernel_params": [0.25, 0.0, 3.0]}
    model = model_of("SVMClassifier", ["l", "y"], x, **made)
    graph = imported(model, tmp_path)
    found = [run_graph(graph, {"x": x})[port.value] for port in graph.outputs]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, chances = session.run(None, {"x": x})
    assert np.abs(found[1] - chances).max() <= 0.005
    assert np.array_equal(found[0].reshape(-1), labels)


def test_maps_and_labels_of_text_are_tensors_and_the_notes_say_which(tmp_path: Path) -> None:
    """As scikit-learn's classifiers are exported: labels of text, and a map of scores for each row."""
    x = np.random.default_rng(6).standard_normal((ROWS, FEATURES)).astype(np.float32)
    names = ["setosa", "versicolor"]
    made = {"coefficients": [0.5] * 2 * FEATURES, "intercepts": [0.1, -0.1], "classlabels_strings": names}
    model = model_of("LinearClassifier", ["l", "y"], x, **made, post_transform="SOFTMAX")
    model.graph.node.append(helper.make_node("ZipMap", ["y"], ["maps"], domain=ML, classlabels_strings=names))
    maps = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    text = port("l", None, TensorProto.STRING)
    del model.graph.output[:]
    model.graph.output.extend([text, helper.make_value_info("maps", helper.make_sequence_type_proto(maps))])
    graph = imported(model, tmp_path)
    found = [run_graph(graph, {"x": x})[port.value] for port in graph.outputs]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, rows = session.run(None, {"x": x})
    assert [names[i] for i in found[0].reshape(-1)] == labels.tolist()
    assert np.allclose(found[1], [[row[n] for n in names] for row in rows], atol=1e-6)
    said = [note for note in graph.notes if note.endswith("0 setosa, 1 versicolor")]
    assert len(said) == 2
    engine = FloatEngine(tmp_path / "model.onnx")
    with pytest.raises(EngineFailed, match="no array of numbers"):
        engine.run({"x": x})


def _picking(extra: Sequence[Any] = ()) -> onnx.ModelProto:
    """The label of the best score, picked from a list of strings, as classifiers without an operator are exported."""
    names = helper.make_tensor("classes", TensorProto.STRING, [3], ["no", "perhaps", "yes"])
    nodes = [
        helper.make_node("ArgMax", ["x"], ["best"], axis=1),
        helper.make_node("ArrayFeatureExtractor", ["classes", "best"], ["row"], domain=ML),
        helper.make_node("Reshape", ["row", "flat"], ["l"]),
    ]
    made = [port("l", None, TensorProto.STRING), *(port(n.output[0], None, TensorProto.INT64) for n in extra)]
    model = onnx_model([*nodes, *extra], [port("x", (ROWS, 3))], made, {"flat": np.array([-1])}, sets={"": 17, ML: 3})
    model.graph.initializer.append(names)
    return model


def test_labels_that_are_picked_from_strings_are_their_numbers(tmp_path: Path) -> None:
    x = np.random.default_rng(8).standard_normal((ROWS, 3)).astype(np.float32)
    graph = imported(_picking(), tmp_path)
    found = run_graph(graph, {"x": x})[graph.outputs[0].value]
    session = onnxruntime.InferenceSession(_picking().SerializeToString(), providers=["CPUExecutionProvider"])
    labels = session.run(None, {"x": x})[0]
    assert [("no", "perhaps", "yes")[i] for i in found.reshape(-1)] == labels.tolist()
    assert any(note.endswith("0 no, 1 perhaps, 2 yes") for note in graph.notes)


def test_strings_that_are_more_than_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelRejected, match="LAM-IMPORT-070"):
        imported(_picking([helper.make_node("Shape", ["classes"], ["n"])]), tmp_path)
    damaged = _picking()
    damaged.graph.initializer[-1].dims[0] = 4
    with pytest.raises(ModelRejected, match="LAM-IMPORT-018"):
        imported(damaged, tmp_path)
