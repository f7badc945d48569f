"""Inputs whose dimensions the model leaves open: a batch of one, and shapes that the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

from codegen import api
from codegen.cli.group import GROUP
from codegen.errors import CompileError
from codegen.options import shape_pairs

from .models import Net, imported, saved


def pooled(*shape: int | str) -> onnx.ModelProto:
    net = Net()
    x = net.qdq(net.input(shape, name="x"))
    return net.model(net.qdq(net.op("GlobalAveragePool", net.op("Relu", x))))


def added(first: tuple[int | str, ...], second: tuple[int | str, ...]) -> onnx.ModelProto:
    net = Net()
    sides = [net.qdq(net.input(shape, name=name)) for name, shape in (("a", first), ("b", second))]
    return net.model(net.qdq(net.op("Add", *sides)))


def test_open_first_dimension_is_a_batch_of_one_and_said(tmp_path: Path) -> None:
    graph = imported(pooled("N", 3, 8, 6), tmp_path)
    assert graph.inputs[0].model_shape == (1, 3, 8, 6)
    assert [n for n in graph.notes if "'N' is a batch of 1" in n]


def test_model_without_open_dimensions_has_no_note(tmp_path: Path) -> None:
    assert not imported(pooled(1, 3, 8, 6), tmp_path).notes


@pytest.mark.parametrize("shape", [("N", 3, "H", "W"), (1, 3, "H", 6), ("", "", "", "")])
def test_given_shape_settles_open_dimensions(shape: tuple[int | str, ...], tmp_path: Path) -> None:
    graph = imported(pooled(*shape), tmp_path, shapes={"x": (1, 3, 8, 6)})
    assert graph.inputs[0].model_shape == (1, 3, 8, 6)
    assert not graph.notes


def test_negative_size_of_the_model_is_an_open_dimension(tmp_path: Path) -> None:
    assert imported(pooled(-1, 3, 8, 6), tmp_path).inputs[0].model_shape == (1, 3, 8, 6)


def test_dimension_of_one_name_has_one_size_in_all_inputs(tmp_path: Path) -> None:
    model = added(("N", "T", 4), ("N", "T", 4))
    graph = imported(model, tmp_path, shapes={"b": (1, 7, 4)})
    assert [i.model_shape for i in graph.inputs] == [(1, 7, 4)] * 2


@pytest.mark.parametrize("shape", [(3,), ("L",), ("N", 3, "H", 4), ("N", 3, 4, "")])
def test_other_open_dimensions_are_refused_with_the_way_out(shape: tuple[int | str, ...], tmp_path: Path) -> None:
    net = Net()
    model = net.model(net.qdq(net.op("Relu", net.qdq(net.input(shape)))))
    if shape == (3,):
        imported(model, tmp_path)
        return
    with pytest.raises(CompileError, match=r"LAM-IMPORT-009.*--shape x="):
        imported(model, tmp_path)


@pytest.mark.parametrize(
    ("code", "shapes"),
    [
        ("051", {"x": (1, 3, 8)}),
        ("051", {"x": (1, 3, 8, 6, 1)}),
        ("051", {"x": (1, 4, 8, 6)}),
        ("052", {"y": (1, 3, 8, 6)}),
        ("052", {"": (1, 3, 8, 6)}),
    ],
)
def test_shape_that_contradicts_the_model(code: str, shapes: Mapping[str, tuple[int, ...]], tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        imported(pooled("N", 3, "H", "W"), tmp_path, shapes=shapes)
    assert caught.value.code == f"LAM-IMPORT-{code}"


def test_one_name_with_two_sizes_is_a_contradiction(tmp_path: Path) -> None:
    model = added(("N", "T", 4), ("N", "T", 4))
    with pytest.raises(CompileError, match="LAM-IMPORT-051"):
        imported(model, tmp_path, shapes={"a": (1, 7, 4), "b": (1, 8, 4)})


@pytest.mark.parametrize(
    "shapes",
    [{"x": s} for s in ((1, 0), (1, -3), (), "1,3", 5, (1.5, 2), None, b"1")] + [[1, 3]],
)
def test_garbage_is_no_shape(shapes: Any) -> None:
    with pytest.raises(CompileError, match="LAM-IMPORT-050"):
        shape_pairs(shapes)


def test_every_verb_takes_shapes(tmp_path: Path) -> None:
    path = saved(pooled("N", 2, "H", "W"), tmp_path)
    shapes = {"x": (1, 2, 4, 3)}
    x = np.random.default_rng(0).normal(0, 2, (1, 2, 4, 3)).astype(np.float32)
    assert api.inspect(path, shapes=shapes).interface[0].model_shape == (1, 2, 4, 3)
    golden = api.run(path, x, shapes=shapes)
    assert np.allclose(golden, api.run(path, x, "float", shapes=shapes), atol=0.051)
    np.savez(tmp_path / "x.npz", x=x, y=np.zeros(1, np.int64))
    assert len(api.read_samples(path, tmp_path / "x.npz", shapes=shapes)) == 1
    assert api.evaluate(path, tmp_path / "x.npz", engine="golden", shapes=shapes).count == 1
    assert api.compile_model(path, "host", tmp_path / "out", shapes=shapes).manifest["inputs"][0]["bytes"] == 24


@pytest.mark.parametrize("command", ["compile", "verify", "inspect", "profile", "run", "eval"])
@pytest.mark.parametrize(
    ("given", "said", "code"),
    [
        ("x", "no shape", 2),
        ("x=", "no shape", 2),
        ("=1,2", "no shape", 2),
        ("x=1,,3", "no shape", 2),
        ("x=1x3", "no shape", 2),
        ("x=1,2,4.5,3", "no shape", 2),
        ("x=1,2,0,3", "LAM-IMPORT-050", 1),
        ("x=1,2,-4,3", "LAM-IMPORT-050", 1),
        ("x=1,2,4", "LAM-IMPORT-051", 1),
        ("x=1,9,4,3", "LAM-IMPORT-051", 1),
        ("z=1,2,4,3", "LAM-IMPORT-052", 1),
    ],
)
def test_every_command_refuses_a_bad_shape(command: str, given: str, said: str, code: int, tmp_path: Path) -> None:
    path = saved(pooled("N", 2, "H", "W"), tmp_path)
    np.savez(tmp_path / "x.npz", x=np.zeros((1, 2, 4, 3), np.float32), y=np.zeros(1, np.int64))
    more = {
        "compile": ["-o", str(tmp_path / "out")],
        "run": ["--input", str(tmp_path / "x.npz"), "-o", str(tmp_path / "y.npz")],
        "eval": ["--data", str(tmp_path / "x.npz"), "--engine", "golden"],
    }.get(command, [])
    result = CliRunner().invoke(GROUP, [command, str(path), "--shape", given, *more], standalone_mode=False)
    if code == 2:
        assert said in str(result.exception)
    else:
        assert said in result.output
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "y.npz").exists()


def test_shape_is_given_once(tmp_path: Path) -> None:
    path = saved(pooled("N", 2, "H", "W"), tmp_path)
    given = ["--shape", "x=1,2,4,3", "--shape", "x=1,2,4,3"]
    result = CliRunner().invoke(GROUP, ["inspect", str(path), *given])
    assert result.exit_code == 2
    assert "two shapes" in result.output


def test_float_model_is_inspected_with_its_open_batch_and_given_shape(tmp_path: Path) -> None:
    net = Net()
    y = net.op("GlobalAveragePool", net.op("Relu", net.input(("N", 2, "H", 3))))
    found = api.inspect(saved(net.model(y), tmp_path), shapes={"x": (1, 2, 4, 3)})
    assert found.supported
    assert found.layers
    assert found.quantizing is not None


@pytest.mark.parametrize("axes", [33, 64, 200])
def test_more_axes_than_numpy_has_are_refused(axes: int, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 4), name="x"))
    model = net.model(net.qdq(net.op("Expand", x, net.const(np.ones(axes, np.int64)))))
    with pytest.raises(CompileError) as refused:
        imported(model, tmp_path)
    assert {p.code for p in refused.value.problems()} <= {"LAM-IMPORT-004", "LAM-IMPORT-014"}
