"""Plug-ins for custom operators of TFLite: one that keeps its scale, and one with a rule and a hook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.frontends.tflite.importer import import_tflite
from codegen.frontends.tflite.survey import survey_tflite
from codegen.plugin import (
    Array,
    C,
    DType,
    Operator,
    Plugin,
    TensorType,
    Types,
    load_plugin,
    never_in_place,
    no_macs,
    same_row,
    tools_with,
    types_among,
)
from codegen.resources import resource_dir
from tests.support.tflite_models import Model

PLUGINS = resource_dir("examples") / "plugins"
SHAPE = (1, 6, 5, 3)


def plugin_for(name: str) -> Plugin:
    """The example's plug-in, which reads a custom code instead of an ONNX name; one option is a byte."""
    made = load_plugin(PLUGINS / name / f"{name}_ops.py")
    (op,) = made.operators
    kind = op.kind

    def read(node: object) -> object:
        return kind(*node.custom)  # type: ignore[attr-defined]

    other: Operator = replace(op, onnx="", tflite="Mine", read=read)
    return Plugin(name=name, operators=(other,), folder=made.place)


@pytest.mark.parametrize(("name", "options", "scale"), [("median", bytes([1]), 0.05), ("edge", b"", 0.03)])
def test_a_custom_operator_is_read_and_equal(name: str, options: bytes, scale: float, tmp_path: Path) -> None:
    made = Model()
    x, held = made.input(SHAPE, "int8", 0.05, 3), ("int8", 0.05, 3)
    before = made.tensor(SHAPE, *held)
    behind = made.tensor(SHAPE, "int8", scale, 3)
    made.op("ABS", [x], [before])
    made.op("Mine", [before], [behind], custom=options)
    made.op("RELU", [behind], [made.output(SHAPE, "int8", scale, 3)])
    path = tmp_path / "m.tflite"
    path.write_bytes(made.bytes())
    plugin = plugin_for(name)
    found = codegen.verify(path, plugins=[plugin], samples=2)
    assert found.equal, found.first_difference
    given = np.random.default_rng(2).integers(-128, 128, SHAPE).astype(np.int8)
    dumped = codegen.run(path, {"main_t0": given}, dump_all=True, plugins=[plugin])
    assert (dumped["main_t1"] != dumped["main_t2"]).any()
    with pytest.raises(codegen.CompileError, match="custom operator Mine is not supported"):
        codegen.verify(path)


@dataclass(frozen=True, slots=True)
class Cube:
    """The third power, on real numbers alone."""

    limits = (types_among("CUBE-01", 0, "the input", (DType.F32,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        return (ins[0],)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        return (ins[0] * ins[0] * ins[0],)

    rows = same_row
    macs = no_macs
    in_place = never_in_place


def test_a_survey_asks_for_real_numbers_where_importing_does(tmp_path: Path) -> None:
    """A rule for integers which the operator's own limits forbid: it is known once the result's scale is."""
    (tmp_path / "none.c.j2").write_text("")
    c = (C(file="none.c.j2", fit=lambda _: None),)
    op = Operator(kind=Cube, tflite="Cube", read=lambda _: Cube(), integers=lambda op, ins, out: op, c=c)
    made, path = Model(), tmp_path / "m.tflite"
    x = made.input(SHAPE, "int8", 0.05, 3)
    made.op("Cube", [x], [made.output(SHAPE, "int8", 0.1, 3)])
    path.write_bytes(made.bytes())
    known = tools_with([Plugin(name="cubes", operators=(op,), folder=tmp_path)]).vocabulary
    imported, found = import_tflite(path, mode="tflite", known=known), survey_tflite(path, mode="tflite", known=known)
    assert found.graph is not None
    assert [node.op for node in found.graph.nodes] == [node.op for node in imported.nodes]
    assert "Cube" in [type(node.op).__name__ for node in imported.nodes]
    assert found.problems == ()
