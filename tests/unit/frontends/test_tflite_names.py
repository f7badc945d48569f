"""Names of TFLite tensors: short, unique, and the interface's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.frontends.tflite import import_tflite, read_ports
from codegen.frontends.tflite.reader import tensor_names
from tests.support.shared import ROOT
from tests.support.tflite_models import Model

PART = st.sampled_from(["", "x", "x.1", "x.2", "x.3", "y", "tensor0", "tensor1"])
NAME = st.lists(PART, min_size=1, max_size=3).map(";".join)


def named(folder: Path, *names: str) -> Path:
    """Three ReLUs in a row: an input, an inner tensor, two outputs."""
    model = Model()
    x = model.input((1, 4), "int8", 0.5)
    inner = model.tensor((1, 4), "int8", 0.5)
    y, z = (model.output((1, 4), "int8", 0.5) for _ in range(2))
    for a, b in ((x, inner), (inner, y), (y, z)):
        model.op("RELU", [a], [b])
    for tensor, name in zip(model.graph.tensors, names, strict=True):
        tensor.name = name
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    return path


@pytest.mark.parametrize(
    ("names", "inputs", "outputs"),
    [
        (("x", "out;a", "out", "z"), ["x"], ["out", "z"]),
        (("in", "in", "a;b", "a"), ["in"], ["a.2", "a"]),
        (("x;y", "x", "y;z", "y"), ["x"], ["y.2", "y"]),
        (("x", "x.2", "x;", "x.2"), ["x"], ["x.3", "x.2"]),
        (("", ";", ";;", "tensor0"), ["tensor0.0"], ["tensor2", "tensor0"]),
        (("x", "x", "x", "x"), ["x"], ["x.2", "x.3"]),
    ],
)
def test_inputs_and_outputs_have_their_names_before_inner_tensors(
    names: tuple[str, ...], inputs: list[str], outputs: list[str], tmp_path: Path
) -> None:
    path = named(tmp_path, *names)
    graph = import_tflite(path, mode="tflite")
    assert [p.name for p in graph.inputs] == inputs
    assert [p.name for p in graph.outputs] == outputs
    assert [[port[0] for port in ports] for ports in read_ports(path)] == [inputs, outputs]
    sources = [v.source for v in graph.values.values()]
    assert len(set(sources)) == len(sources) == 4


@given(st.lists(NAME, min_size=1, max_size=8), st.data())
def test_no_two_tensors_share_a_name(names: list[str], data: st.DataObject) -> None:
    ports = data.draw(st.lists(st.integers(0, len(names) - 1)))
    found = tensor_names(names, ports)
    assert len(set(found)) == len(names)
    own = [names[i] for i in ports if names[i] and ";" not in names[i]]
    assert {found[i] for i in ports} >= set(own)


def test_names_as_converters_give_them_are_the_first_parts() -> None:
    given_names = ["serving_default_x:0", "conv/Relu;conv/Conv2D;bias", "StatefulPartitionedCall:0", ""]
    assert tensor_names(given_names, (0, 2)) == [
        "serving_default_x:0",
        "conv/Relu",
        "StatefulPartitionedCall:0",
        "tensor3",
    ]


def test_the_page_says_how() -> None:
    page = (ROOT / "docs" / "tflite.md").read_text(encoding="utf-8")
    assert "inputs and outputs choose first" in page
    assert tensor_names(["conv1", *["a"] * 11, "conv1;bias"], ())[12] == "conv1.12"
    assert "`conv1.12`" in page
