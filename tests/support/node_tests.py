"""ONNX's own tests of its operators, as models for the RealGraph reader.

A test feeds every input at run time; a network's parameters are constants.  So each is tried as it is, then with the
whole numbers behind the first input as constants, then with everything behind the first input.
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
    ins, outs = case.data_sets[0]
    names = [i.name for i in case.model.graph.input]
    if not all(isinstance(a, np.ndarray) and a.dtype.kind in "biuf" for a in (*ins, *outs)):
        return None
    return NodeTest(case.name, case.model, dict(zip(names, ins, strict=False)), tuple(outs), case.rtol, case.atol)


def forms(case: NodeTest) -> Iterator[onnx.ModelProto]:
    """The model with fewer and fewer inputs that are given at run time."""
    names = list(case.feeds)
    whole = [n for n in names[1:] if case.feeds[n].dtype.kind in "iu"]
    for constants in ([], whole, names[1:]):
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
            if last == 2:
                raise
    raise AssertionError("three forms")
