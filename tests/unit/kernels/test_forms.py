"""Forms: frozen data, weights packed once per layer, and everything that is said of a field before it is packed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.form import Field, Form
from codegen.kernels import KERNELS, find_form
from codegen.kernels.conv2d import CONV2D
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from codegen.target import FEATURES
from tests.contract.test_kernels import LEVELS, build_graph, cases
from tests.support.graphs import conv_chain
from tests.support.shared import shared_dir

_OF_WEIGHTS = ("weights", "stream")


def compiled(monkeypatch: pytest.MonkeyPatch, model: str, target: str) -> tuple[Compiled, Counter[int]]:
    """The network, and how often each field was packed."""
    packed: Counter[int] = Counter()
    kept: list[Field] = []
    pack = Field._packed

    def counted(field: Field) -> np.ndarray:
        packed[id(field)] += field.name in _OF_WEIGHTS
        kept.append(field)
        return pack(field)

    monkeypatch.setattr(Field, "_packed", counted)
    path: Path = shared_dir() / "models" / model
    return compile_file(path, Options(target=target, vectors=0)), +packed


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55", "host", "generic"])
def test_the_weights_of_a_layer_are_packed_once(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, packed = compiled(monkeypatch, "mlperf_tiny_onnx/kws_qdq.onnx", target)
    layers = [f for form in made.kernels.values() for f in form.params if f.name in _OF_WEIGHTS]
    assert len(layers) >= 10
    assert packed == Counter({id(field): 1 for field in layers})


def test_the_weights_of_a_tile_are_packed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, packed = compiled(monkeypatch, "mlperf_tiny_onnx/kws_qdq.onnx", "gap8-like")
    weights = sum(c.nbytes for n in made.graph.nodes for c in made.graph.view(n).consts if c is not None and c.ndim > 1)
    fields = [f for p in made.program.params for f in p.fields if f.name in _OF_WEIGHTS]
    assert set(packed.values()) == {1}
    assert len(packed) >= len(fields)
    assert sum(f.nbytes for f in fields) <= 1.02 * weights


@pytest.mark.one_in(5)
@pytest.mark.parametrize("level", LEVELS)
def test_fields_are_of_the_size_that_was_said(level: str) -> None:
    """Sizes decide between kernels before anything is packed."""
    graph = build_graph(cases())
    for node in graph.nodes:
        form = find_form(graph.view(node), level)
        for field in form.params if form else ():
            said = (field.dtype, field.size, field.nbytes)
            assert said == (field.values.dtype, field.values.size, field.values.nbytes), f"{node.name} {field.name}"


def test_a_field_is_packed_when_it_is_first_read_and_kept() -> None:
    times: list[int] = []

    def pack() -> np.ndarray:
        times.append(1)
        return np.arange(3, dtype=np.int8)

    field = Field.later("weights", np.int8, 3, pack)
    assert (field.size, field.nbytes, field.ctype, times) == (3, 3, "int8_t", [])
    assert field.values is field.values
    assert times == [1]


def test_a_field_that_is_not_what_was_said_of_it_is_a_fault() -> None:
    with pytest.raises(AssertionError, match="weights is not what was said of it"):
        _ = Field.later("weights", np.int8, 4, lambda: np.zeros(3, np.int8)).values


def test_a_kernel_is_for_its_operators_and_features_alone() -> None:
    graph = conv_chain()
    view = graph.view(graph.nodes[0])
    assert isinstance(CONV2D.fit(view, frozenset()), Form)
    known = frozenset().union(*FEATURES.values())
    assert all(kernel.needs | kernel.without <= known for kernel in KERNELS)
    other = [kernel for kernel in KERNELS if type(view.op) not in kernel.ops]
    assert other
    assert not any(kernel.fit(view, features) for kernel in other for features in FEATURES.values())
    fast = [kernel for kernel in KERNELS if kernel.needs]
    assert len(fast) > 10
    assert not any(kernel.fit(view, frozenset()) for kernel in fast)
