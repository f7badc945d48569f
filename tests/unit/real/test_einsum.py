"""Einsum read as a product or a sum: the same bits as its own definition, whatever the order of its letters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from codegen.frontends import read_real
from codegen.ir.quant import Array
from codegen.real.algebra import Einsum
from codegen.real.engine import RealEngine
from tests.support.onnx_files import onnx_graph, port

SIZES = {"a": 1, "b": 2, "h": 3, "i": 4, "j": 5, "k": 6, "d": 7}
PRODUCTS = (
    *("ik,kj->ij", "ik,jk->ij", "ik,jk->ji", "ki,kj->ij", "bhid,bhjd->bhij", "bihd,bjhd->bhij", "bhij,bjhd->bihd"),
    *(
        "bhid,bhjd->hjbi",
        "bid,dhk->bihk",
        "bihk,hkd->bid",
        "di,bhd->bhi",
        "bk,bk->b",
        "k,k->",
        "ak,ak->a",
        "ijk,kji->i",
    ),
)
SUMS = ("ij->ji", "bij->j", "bij->jb", "bij->bij", "ij->")
OTHERS = ("ii->i", "i,j->ij", "bij,bij->bij", "ij,kd->i", "ik,kj,jd->id")


def model(equation: str, constant: int | None = None, sizes: dict[str, int] = SIZES) -> tuple[bytes, dict[str, Array]]:
    """The file, and all its tensors, of which one may be a constant."""
    rng = np.random.default_rng(len(equation))
    terms = equation.split("->")[0].split(",")
    arrays = {f"x{i}": rng.normal(size=[sizes[s] for s in t]).astype(np.float32) for i, t in enumerate(terms)}
    node = helper.make_node("Einsum", list(arrays), ["y"], equation=equation)
    ports = [port(name, x.shape) for i, (name, x) in enumerate(arrays.items()) if i != constant]
    known = [numpy_helper.from_array(x, name) for i, (name, x) in enumerate(arrays.items()) if i == constant]
    graph = onnx_graph([node], ports, ["y"], known)
    made: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return made.SerializeToString(), arrays


def read(equation: str, path: Path, constant: int | None = None) -> list[str]:
    """The operators that it is read as, which give the bits of Einsum's definition."""
    content, arrays = model(equation, constant)
    path.write_bytes(content)
    left, right = equation.split("->")
    (wanted,) = Einsum(tuple(tuple(t) for t in left.split(",")), tuple(right)).evaluate(list(arrays.values()))
    given = {name: x for i, (name, x) in enumerate(arrays.items()) if i != constant}
    graph = read_real(path)
    (found,) = RealEngine(graph, exact=True).run(given).values()
    assert np.array_equal(found, wanted)
    return [type(node.op).__name__ for node in graph.nodes]


@pytest.mark.parametrize("constant", [None, 0, 1])
@pytest.mark.parametrize("equation", PRODUCTS)
def test_a_product_is_one(equation: str, constant: int | None, tmp_path: Path) -> None:
    kinds = read(equation, tmp_path / "m.onnx", constant)
    assert kinds.count("MatMul") == 1
    assert set(kinds) <= {"MatMul", "Transpose", "Reshape"}


def test_constants_are_moved_when_they_are_read(tmp_path: Path) -> None:
    assert read("di,bhd->bhi", tmp_path / "a.onnx", 0) == ["MatMul"]
    assert read("bid,hkd->bihk", tmp_path / "b.onnx", 1) == ["MatMul", "Reshape"]


@pytest.mark.parametrize("equation", SUMS)
def test_a_sum_is_one(equation: str, tmp_path: Path) -> None:
    assert set(read(equation, tmp_path / "m.onnx")) <= {"Reduce", "Transpose"}


@pytest.mark.parametrize("equation", OTHERS)
def test_what_is_neither_stays_itself(equation: str, tmp_path: Path) -> None:
    assert read(equation, tmp_path / "m.onnx") == ["Einsum"]


def test_axes_of_one_element_that_are_stretched_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    node = helper.make_node("Einsum", ["x", "y"], ["z"], equation="bk,kj->bj")
    graph = onnx_graph([node], [port("x", (2, 1)), port("y", (3, 4))], ["z"], [])
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    )
    assert [type(node.op).__name__ for node in read_real(path).nodes] == ["Einsum"]
