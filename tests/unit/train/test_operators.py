"""The operators that are trained: ONNX's own tests of them, as real numbers in torch."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from codegen.errors import CompileError, GradientUnknown
from tests.support.node_tests import NodeTest, as_said, held, node_tests, read
from tests.support.tools import require_module

ENOUGH = 250
"""Tests that are to be covered at least."""


@pytest.fixture(scope="module")
def operators() -> ModuleType:
    require_module("torch")
    import torch

    from codegen.train import operators

    torch.set_num_threads(1)
    return operators


def result(operators: ModuleType, graph: Any, feeds: dict[str, np.ndarray]) -> np.ndarray | None:
    """What torch makes of a network of known operators on real numbers; None for any other."""
    import torch

    if not graph.nodes or not all(operators.is_known(node) for node in graph.nodes) or len(graph.outputs) != 1:
        return None
    if not all(graph.type(name).is_real for node in graph.nodes for name in (*node.inputs[:1], *node.outputs)):
        return None
    known = {name: value.data for name, value in graph.values.items() if value.data is not None}
    live = {name: torch.as_tensor(np.array(x)) for name, x in {**known, **feeds}.items()}
    for node in graph.nodes:
        live[node.outputs[0]] = operators.run(node, [live[name] for name in node.inputs])
    return live[graph.outputs[0]].detach().numpy()


def compared(operators: ModuleType, case: NodeTest, folder: Path) -> str:
    """Empty where the test says the same, else what is wrong; "other" where it is not about these operators."""
    try:
        graph, _ = read(case, folder)
    except CompileError:
        return "other"
    if any(s.dtype != np.float32 for s in case.expected):
        return "other"
    feeds = {name: held(case.feeds[name]) for name in graph.inputs}
    try:
        made = result(operators, graph, feeds)
    except GradientUnknown:
        return "other"
    if made is None:
        return "other"
    wanted = case.expected[0]
    if made.shape != wanted.shape:
        return f"{made.shape}, not {wanted.shape}"
    close = np.allclose(
        as_said(made, wanted, case), wanted, rtol=max(case.rtol, 1e-4), atol=max(case.atol, 1e-5), equal_nan=True
    )
    return "" if close else f"off by {np.abs(made - wanted).max()}"


def wrong(operators: ModuleType, folder: Path, names: list[str]) -> tuple[dict[str, str], int]:
    """What is wrong with these tests, and how many were right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: compared(operators, node_tests()[name], folder) for name in names}
    return {name: said for name, said in found.items() if said not in ("", "other")}, Counter(found.values())[""]


@pytest.mark.slow
def test_all_operators_are_those_of_onnx(operators: ModuleType, tmp_path: Path) -> None:
    found, right = wrong(operators, tmp_path, sorted(node_tests()))
    assert found == {}
    assert right > ENOUGH
