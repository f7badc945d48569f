"""ONNX's own tests of its operators, as models for the RealGraph reader.

A test feeds every input at run time; a network's parameters are constants.  So each is tried as it is, then with the
whole numbers behind the first input as constants, then with everything behind the first input, then with everything but
one of the others, then with everything: what has a size that depends on numbers, and integers of few bits, are known as
constants only.
"""

from __future__ import annotations

import pickle
import tempfile
import warnings
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from codegen.errors import CompileError
from codegen.frontends.onnx.real import read_real
from codegen.ir.element import BFLOAT16, is_bfloat16
from codegen.ir.real import RealGraph
from codegen.real.chosen import UNUSED
from codegen.real.engine import RealEngine
from codegen.real.storage import as_typed
from tests.support.shared import ROOT

_FEW = ("int4", "uint4", "int2", "uint2")
"""Integers of few bits, which a RealGraph holds in eight."""
_SHORT = "bfloat16"
"""Which a RealGraph holds as float32."""
_IN_STEPS = "test_attention"
"""Tests whose results of bfloat16 come of steps of which each is rounded; of others only the results are."""
_RTOL = 2**-6
"""How far the results of such steps may be away, as onnx's own runner of its tests has it."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeTest:
    """One test: a model of one operator, what goes in and what must come out."""

    name: str
    model: onnx.ModelProto
    feeds: dict[str, np.ndarray]
    expected: tuple[np.ndarray, ...]
    rtol: float
    atol: float


@cache
def node_tests() -> dict[str, NodeTest]:
    """Those of numeric tensors only, by name; onnx computes them for seconds, so that they are kept."""
    key = f"{onnx.__version__}-{np.__version__}-{zlib.crc32(Path(__file__).read_bytes()):08x}"
    kept = ROOT / ".pytest_cache" / f"node_tests-{key}.pickle"
    if not kept.is_file():
        kept.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
            pickle.dump(_made(), file)
        Path(file.name).replace(kept)
    found: dict[str, NodeTest] = pickle.loads(kept.read_bytes())
    return found


def _made() -> dict[str, NodeTest]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        cases = load_model_tests(kind="node")
    made = (_node_test(case) for case in cases)
    return {case.name: case for case in made if case is not None}


def _node_test(case: Any) -> NodeTest | None:
    ins, outs = ([_array(a) for a in part] for part in case.data_sets[0])
    names = [i.name for i in case.model.graph.input]
    if any(a is None for a in (*ins, *outs)):
        return None
    expected = tuple(held(a) for a in outs if a is not None)
    feeds = {n: a for n, a in zip(names, ins, strict=False) if a is not None}
    in_steps = case.name.startswith(_IN_STEPS) and any(is_bfloat16(a.dtype) for a in expected)
    return NodeTest(case.name, case.model, feeds, expected, max(case.rtol, _RTOL if in_steps else 0.0), case.atol)


def _array(data: Any) -> np.ndarray | None:
    """The tensor if it is one of numbers."""
    if isinstance(data, onnx.TensorProto) and data.data_type != onnx.TensorProto.STRING:
        data = onnx.numpy_helper.to_array(data)
    if not isinstance(data, np.ndarray | np.generic):
        return None
    array = np.asarray(data)
    plain = array.dtype.char in np.typecodes["AllInteger"] + "efd?"
    return array if plain or array.dtype.name in (*_FEW, _SHORT) else None


def held(array: np.ndarray) -> np.ndarray:
    """The numbers as a RealGraph holds them."""
    if array.dtype.name == _SHORT:
        return array.astype(BFLOAT16)
    return array.astype(np.uint8 if array.dtype.name[0] == "u" else np.int8) if array.dtype.name in _FEW else array


def forms(case: NodeTest) -> list[onnx.ModelProto]:
    """The model with fewer and fewer inputs that are given at run time; none in the last one."""
    names = list(case.feeds)
    whole = [n for n in names[1:] if case.feeds[n].dtype.kind in "iu"]
    alone = [[n for n in names if n != kept] for kept in names[1:]]
    made = []
    for constants in ([], whole, names[1:], *alone, names):
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        model.graph.initializer.extend(onnx.numpy_helper.from_array(case.feeds[n], n) for n in constants)
        made.append(model)
    return made


def read(case: NodeTest, folder: Path) -> tuple[RealGraph, bool]:
    """The first form that can be read, and whether only constants go in; what the last one raises otherwise."""
    path = folder / "model.onnx"
    models = forms(case)
    for model in models:
        path.write_bytes(model.SerializeToString())
        known = {t.name for t in model.graph.initializer}
        shapes = {n: a.shape for n, a in case.feeds.items() if n not in known and a.ndim}
        try:
            return read_real(path, shapes=shapes), model is models[-1]
        except CompileError:
            if model is models[-1]:
                raise
    raise AssertionError("several forms")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one test: whether it is read, of constants only, and right; the refusal otherwise."""

    right: bool
    constants: bool = False
    refusal: str = ""


@cache
def results() -> dict[str, Result]:
    """Every test's result, its sums in the stated order and in any."""
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        return {name: _result(case, Path(folder)) for name, case in node_tests().items()}


def _result(case: NodeTest, folder: Path) -> Result:
    try:
        graph, constants = read(case, folder)
    except CompileError as error:
        return Result(False, refusal=error.problems()[0].found)
    feeds = {n: held(case.feeds[n]) for n in graph.inputs}
    right = all(_is_right(graph, RealEngine(graph, exact=exact).run(feeds), case) for exact in (True, False))
    return Result(right, constants)


def _is_right(graph: RealGraph, found: dict[str, np.ndarray], case: NodeTest) -> bool:
    """Whether the numbers are ONNX's, and have the types that the graph promises."""
    promised = all((a.shape, a.dtype) == (graph.type(n).shape, graph.type(n).dtype) for n, a in found.items())
    return promised and all(_agree(a, b, case) for a, b in zip(found.values(), case.expected, strict=True))


def rows_used(found: np.ndarray, wanted: np.ndarray, case: NodeTest) -> np.ndarray:
    """Of boxes that are selected the rows in which there is one: a network has rows for all that may be."""
    selects = case.model.graph.node[-1].op_type == "NonMaxSuppression"
    left = found[len(wanted) :] if selects else np.empty(0)
    return found[: len(wanted)] if left.size and (left == UNUSED).all() else found


def as_said(found: np.ndarray, wanted: np.ndarray, case: NodeTest) -> np.ndarray:
    """Of a result what a test says: its rows, rounded where that is of bfloat16."""
    return as_typed(rows_used(found, wanted, case), wanted.dtype)


def _agree(found: np.ndarray, wanted: np.ndarray, case: NodeTest) -> bool:
    found = as_said(found, wanted, case)
    if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
        return False
    half = 2e-2 if wanted.dtype == np.float16 else 1e-5
    return np.allclose(found, wanted, rtol=case.rtol, atol=max(case.atol, half), equal_nan=True)
