"""ONNX's own tests of its operators, as models for the RealGraph reader.

A test feeds every input at run time; a network's parameters are constants.  So each is tried as it is, then with the
whole numbers behind the first input as constants, then with everything behind the first input, then with everything:
what has a size that depends on numbers, and integers of few bits, are known as constants only.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from codegen.errors import CompileError
from codegen.frontends.onnx.real import read_real
from codegen.ir.real import RealGraph

_FEW = ("int4", "uint4", "int2", "uint2")
"""Integers of few bits, which a RealGraph holds in eight."""


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
    """Those of numeric tensors only, by name."""
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
    expected = tuple(_in_bytes(a) for a in outs if a is not None)
    feeds = {n: a for n, a in zip(names, ins, strict=False) if a is not None}
    return NodeTest(case.name, case.model, feeds, expected, case.rtol, case.atol)


def _array(data: Any) -> np.ndarray | None:
    """The tensor if it is one of numbers."""
    if isinstance(data, onnx.TensorProto) and data.data_type != onnx.TensorProto.STRING:
        data = onnx.numpy_helper.to_array(data)
    if not isinstance(data, np.ndarray | np.generic):
        return None
    array = np.asarray(data)
    return array if array.dtype.kind in "biuf" or array.dtype.name in _FEW else None


def _in_bytes(array: np.ndarray) -> np.ndarray:
    return array.astype(np.uint8 if array.dtype.name[0] == "u" else np.int8) if array.dtype.name in _FEW else array


def forms(case: NodeTest) -> Iterator[onnx.ModelProto]:
    """The model with fewer and fewer inputs that are given at run time."""
    names = list(case.feeds)
    whole = [n for n in names[1:] if case.feeds[n].dtype.kind in "iu"]
    for constants in ([], whole, names[1:], names):
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        model.graph.initializer.extend(onnx.numpy_helper.from_array(case.feeds[n], n) for n in constants)
        yield model


def read(case: NodeTest, folder: Path) -> RealGraph:
    """The first form that can be read; what the last one raises otherwise."""
    path = folder / "model.onnx"
    for last, model in enumerate(forms(case)):
        path.write_bytes(model.SerializeToString())
        known = {t.name for t in model.graph.initializer}
        shapes = {n: a.shape for n, a in case.feeds.items() if n not in known and a.ndim}
        try:
            return read_real(path, shapes=shapes)
        except CompileError:
            if last == 3:
                raise
    raise AssertionError("four forms")
