"""Float networks with operators of plug-ins, quantized: what has integers gets them, what has none stays float."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
import pytest

import codegen
from codegen import api
from codegen.build import Net, Tensor
from codegen.cli.command_line import run_line
from codegen.frontends import read_real
from codegen.plugin import (
    Array,
    C,
    DType,
    Operator,
    Plugin,
    Quant,
    Requant,
    TensorType,
    Types,
    apply_requant,
    feature_map,
    make_requant,
    never_in_place,
    no_macs,
    same_row,
    tools_with,
    types_among,
)
from codegen.quantizer.places import Places
from codegen.resources import resource_dir

PLUGINS = resource_dir("examples") / "plugins"
MEDIAN = PLUGINS / "median" / "median_ops.py"
EDGE = PLUGINS / "edge" / "edge_ops.py"
BOTH = (MEDIAN, EDGE)
RNG = np.random.default_rng(8)
SAMPLES = RNG.normal(0, 1, (20, 3, 12, 10)).astype(np.float32)


def conv(net: Net, x: Tensor, outputs: int, **words: object) -> Tensor:
    shape = (outputs, x.shape[1], 3, 3)
    w = (np.random.default_rng(outputs).normal(0, 1, shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
    y = net.onnx.Conv(x, w, np.zeros(outputs, np.float32), **words)
    assert isinstance(y, Tensor)
    return y


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A float network of the operators of both examples, written by calls."""
    net = Net("both", toolkit=tools_with(BOTH))
    y = net.onnx.Relu(conv(net, net.input("x", (1, 3, 12, 10)), 8, pads=[1] * 4, name="first"))
    y = net.onnx["example.median::MedianRows"](y, reach=2, name="median")
    y = net.onnx["example.edge::Edge"](y, name="edge")
    net.output(conv(net, y, 4, strides=[2, 2], name="last"), "y")
    path = tmp_path_factory.mktemp("model") / "both.onnx"
    path.write_bytes(net.to_onnx())
    return path


def test_a_network_of_calls_is_written_with_the_nodes_of_its_plug_ins(model: Path) -> None:
    proto = onnx.load(model)
    (median,) = [n for n in proto.graph.node if n.op_type == "MedianRows"]
    assert (median.domain, median.name, median.attribute[0].name, median.attribute[0].i) == (
        "example.median",
        "median",
        "reach",
        2,
    )
    assert {o.domain for o in proto.opset_import} == {"", "example.median", "example.edge"}


def test_it_is_quantized_judged_in_c_and_verified(model: Path, tmp_path: Path) -> None:
    calib, out, plugins = tmp_path / "x.npz", tmp_path / "q.onnx", [w for p in BOTH for w in ("--plugin", str(p))]
    np.savez(calib, x=SAMPLES)
    words = [str(model), *plugins, "--calib", str(calib), "-o", str(out), "--recipe", "fast", "--quiet"]
    assert run_line(["quantize", *words]) == 0
    made = codegen.quantize(model, SAMPLES, plugins=BOTH, recipe="fast")
    assert made.model == out.read_bytes()
    assert made.report.engine == "c"
    assert made.report.sqnr is not None
    assert made.report.sqnr > 25
    table = made.table
    assert table["median"] == table["relu_1"], "a median keeps the scale of its input"
    assert table["edge"] != table["median"], "a rule asks for a scale of its own"
    found = codegen.verify(out, plugins=BOTH, samples=1)
    assert found.equal, found.first_difference
    golden = codegen.run(out, SAMPLES[:1], plugins=BOTH)
    wanted = codegen.run(model, SAMPLES[:1], "float", plugins=BOTH)
    assert np.abs(golden - wanted).max() < 0.1 * np.abs(wanted).max()
    layers = {part.name: part.alone for part in codegen.sensitivity(model, SAMPLES, plugins=BOTH).parts}
    assert {"first", "edge", "last"} <= set(layers)
    beside = api.compare_quantized(model, out, SAMPLES, samples=2, plugins=BOTH)
    assert {t.tensor for t in beside.tensors} == set(table)
    assert all(t.own_steps < 0.35 for t in beside.tensors if t.tensor in ("median", "edge")), "they lose by rounding"


def test_an_operator_without_integers_stays_float(model: Path, tmp_path: Path) -> None:
    """In the middle of layers that have them, compiled so."""
    for name in ("median_dsp.h", "median.c.j2"):
        (tmp_path / name).write_text(MEDIAN.with_name(name).read_text(encoding="utf-8"), encoding="utf-8")
    alone = tmp_path / MEDIAN.name
    text = MEDIAN.read_text(encoding="utf-8")
    alone.write_text(text.replace("(DType.S8, DType.F32)", "(DType.F32,)"), encoding="utf-8")
    made = codegen.quantize(model, SAMPLES, plugins=[alone, EDGE], recipe="fast")
    assert made.table["relu_1"] != made.table["median"]
    looked = codegen.inspect(made.model, plugins=[alone, EDGE])
    kinds = [layer.dtype for layer in looked.layers if layer.operator == "MedianRows"]
    assert kinds == ["f32"]
    found = codegen.verify(made.model, plugins=[alone, EDGE], samples=1)
    assert found.equal, found.first_difference


@pytest.mark.parametrize("command", ["quantize", "sensitivity"])
def test_without_the_plug_in_it_is_unknown(command: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--stop-after", "calibrate"] if command == "quantize" else ["--calib", "x.npz"]
    assert run_line([command, str(model), *more]) == 1
    assert "MedianRows" in capsys.readouterr().err


@dataclass(frozen=True, slots=True)
class Blend:
    """The sum of two maps and a constant one, in the scale that is asked for."""

    steps: tuple[Requant, ...] = ()
    zeros: tuple[int, ...] = ()
    quant: Quant | None = None

    limits = (types_among("BLEND-01", 0, "the input", (DType.S8, DType.F32)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        return (replace(ins[0], quant=self.quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        if not self.steps:
            return (sum(ins[1:], ins[0]),)
        total = sum(
            apply_requant(s, x.astype(np.int64) - z, DType.S32)
            for s, x, z in zip(self.steps, ins, self.zeros, strict=True)
        )
        assert self.quant is not None
        return (np.clip(total + self.quant.zero_point, -128, 127).astype(np.int8),)

    rows = same_row
    macs = no_macs
    in_place = never_in_place


@dataclass(frozen=True, slots=True)
class Larger:
    """The larger of two maps of one scale."""

    limits = (types_among("LARGER-01", 0, "the input", (DType.S8, DType.F32)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        return (ins[0],)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        return (np.maximum(*ins),)

    rows = same_row
    macs = no_macs
    in_place = never_in_place


@dataclass(frozen=True, slots=True)
class Cube:
    """The third power, on real numbers alone."""

    limits = (types_among("CUBE-01", 0, "the input", (DType.F32,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        return (feature_map(self, ins),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        return (ins[0] * ins[0] * ins[0],)

    rows = same_row
    macs = no_macs
    in_place = never_in_place


def blended(op: Blend, ins: tuple[TensorType, ...], out: TensorType) -> Blend:
    quants = [kind.quant for kind in ins]
    assert all(q is not None for q in quants), "every operand has a scale, the constant one too"
    whole = Quant(out.quant.scale, 0)
    steps = tuple(make_requant("single", q.scale, [1.0], whole, DType.S32) for q in quants)
    return Blend(steps, tuple(q.zero_point for q in quants), out.quant)


def mixed() -> Plugin:
    def none(_: object) -> None:
        return None

    c = (C(file="none.c.j2", fit=none),)
    return Plugin(
        name="mixed",
        operators=(
            Operator(kind=Blend, onnx="t::Blend", integers=blended, operands=(2,), c=c),
            Operator(kind=Larger, onnx="t::Larger", c=c),
            Operator(kind=Cube, onnx="t::Cube", c=c),
        ),
    )


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    (tmp_path / "none.c.j2").write_text("")
    return replace(mixed(), folder=tmp_path)


def test_whose_integers_hold_what(plugin: Plugin, tmp_path: Path) -> None:
    """A rule: its own, and those of its operands; two inputs of one scale: one for all."""
    net = Net("mixed", toolkit=tools_with([plugin]))
    a, b = net.input("a", (1, 2, 4, 3)), net.input("b", (1, 2, 4, 3))
    table = RNG.normal(0, 1, (1, 2, 4, 3)).astype(np.float32)
    y = net.onnx["t::Blend"](a, b, table, name="blend")
    y = net.onnx["t::Larger"](y, net.onnx.Tanh(b, name="tanh"), name="larger")
    net.output(net.onnx["t::Cube"](y, name="cube"), "y")
    path = tmp_path / "m.onnx"
    path.write_bytes(net.to_onnx())
    places = Places(read_real(path, known=tools_with([plugin]).vocabulary))
    like = {t.name: t.like for t in places.tensors}
    assert like == {"a": "", "b": "", "blend": "", "tanh": "blend", "larger": "blend", "y": ""}
    assert [(c.layer, c.place, c.role) for c in places.constants] == [("blend", 2, "activation")]
    assert next(t for t in places.tensors if t.name == "tanh").bounds is None, "of two there is no natural range"
    arrays = {name: RNG.normal(0, 1, (12, 2, 4, 3)).astype(np.float32) for name in "ab"}
    made = codegen.quantize(path, arrays, recipe="fast", plugins=[plugin], stop_after="calibrate")
    assert made.table["tanh"] == made.table["blend"] == made.table["larger"]
    assert made.table["y"] != made.table["blend"], "real numbers are held by integers of their own"
