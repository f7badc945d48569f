"""Positions and lengths that a network computes, outside their axis: golden model, C and engine of real numbers agree.

ONNX Runtime and LiteRT refuse them; each must give the same of what they become here, which it is given itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import codegen
from codegen.errors import CompileError
from codegen.frontends import read_real
from codegen.frontends.tflite.importer import read_ports
from codegen.ir.quant import Array
from codegen.real.engine import RealEngine
from codegen.real.sampling import RoiAlign
from tests.support.outsider import ort_session
from tests.support.tflite_models import Model, run_litert

_RNG = np.random.default_rng(3)
_HEAD = '<ir_version: 8, opset_import: ["" : {}]> g '
ONE = np.array([3, -1, 4, -5, 99, -99, 0])
PAIRS = np.array([[3, 2], [4, -4], [-9, 7], [1, 0]])


def _reals(*shape: int) -> Array:
    return _RNG.standard_normal(shape).astype(np.float32)


def _remainders(*sizes: int) -> Callable[[Array], Array]:
    return lambda at: at % np.array(sizes)


def _nearest(*sizes: int) -> Callable[[Array], Array]:
    return lambda at: np.clip(at, 0, np.array(sizes) - 1)


Case = tuple[str, Mapping[str, Array], Callable[[Array], Array]]
ONNX: Mapping[str, Case] = {
    "Gather": (
        "(float[4,3] x, int64[7] p) => (float[7,3] y) { y = Gather (x, p) }",
        {"x": _reals(4, 3), "p": ONE},
        _remainders(4),
    ),
    "Gather of whole numbers": (
        "(int64[2,4,3] x, int64[7] p) => (int64[2,7,3] y) { y = Gather <axis = 1> (x, p) }",
        {"x": np.arange(24).reshape(2, 4, 3), "p": ONE},
        _remainders(4),
    ),
    "GatherElements": (
        "(float[4,3] x, int64[2,3] p) => (float[2,3] y) { y = GatherElements (x, p) }",
        {"x": _reals(4, 3), "p": ONE[:6].reshape(2, 3)},
        _remainders(4),
    ),
    "GatherND": (
        "(float[4,3] x, int64[4,2] p) => (float[4] y) { y = GatherND (x, p) }",
        {"x": _reals(4, 3), "p": PAIRS},
        _remainders(4, 3),
    ),
    "GatherND of batches": (
        "(float[2,4,3] x, int64[2,3,1] p) => (float[2,3,3] y) { y = GatherND <batch_dims = 1> (x, p) }",
        {"x": _reals(2, 4, 3), "p": ONE[:6].reshape(2, 3, 1)},
        _remainders(4),
    ),
    "ScatterElements": (
        "(float[4,3] x, int64[2,3] p, float[2,3] u) => (float[4,3] y)"
        '{ y = ScatterElements <reduction = "add"> (x, p, u) }',
        {"x": _reals(4, 3), "p": ONE[:6].reshape(2, 3), "u": _reals(2, 3)},
        _remainders(4),
    ),
    "ScatterND": (
        '(float[4,3] x, int64[4,2] p, float[4] u) => (float[4,3] y) { y = ScatterND <reduction = "add"> (x, p, u) }',
        {"x": _reals(4, 3), "p": PAIRS, "u": _reals(4)},
        _remainders(4, 3),
    ),
    "TensorScatter": (
        "(float[2,3,5,2] x, float[2,3,1,2] u, int64[2] p) => (float[2,3,5,2] y) { y = TensorScatter (x, u, p) }",
        {"x": _reals(2, 3, 5, 2), "u": _reals(2, 3, 1, 2), "p": np.array([9, -1])},
        _remainders(5),
    ),
    "MaxUnpool": (
        "(float[1,1,2,2] x, int64[1,1,2,2] p) => (float[1,1,4,4] y)"
        "{ y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, p) }",
        {"x": _reals(1, 1, 2, 2), "p": np.array([[[[5, 99], [-1, 6]]]])},
        _nearest(16),
    ),
    "RoiAlign": (
        "(float[2,1,6,6] x, float[4,4] r, int64[4] p) => (float[4,1,2,2] y)"
        "{ y = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 2> (x, r, p) }",
        {"x": _reals(2, 1, 6, 6), "r": np.abs(_reals(4, 4)) * 3, "p": np.array([0, 5, -3, -2])},
        _remainders(2),
    ),
    "ReverseSequence": (
        "(float[5,4] x, int64[4] p) => (float[5,4] y) { y = ReverseSequence (x, p) }",
        {"x": _reals(5, 4), "p": np.array([0, 9, 3, -2])},
        lambda lengths: np.clip(lengths, 0, 5),
    ),
}


@pytest.mark.parametrize("name", ONNX)
def test_onnx(name: str, tmp_path: Path) -> None:
    text, feeds, becomes = ONNX[name]
    opset = 16 if name == "RoiAlign" else 24
    model, path = parser.parse_model(_HEAD.format(opset) + text), tmp_path / "m.onnx"
    onnx.save(model, path)
    (want,) = ort_session(model).run(None, {**feeds, "p": becomes(feeds["p"])})
    _check(path, feeds, want)


def test_a_displacement_that_is_no_number_reads_zero(tmp_path: Path) -> None:
    text = "(float[1,1,4,4] x, float[1,1,2,2] w, float[1,8,3,3] o) => (float[1,1,3,3] y) { y = DeformConv (x, w, o) }"
    model, path = parser.parse_model(_HEAD.format(20) + text), tmp_path / "m.onnx"
    onnx.save(model, path)
    moved = _reals(1, 8, 3, 3)
    moved.flat[::5], moved.flat[::7] = np.nan, np.inf
    feeds = {"x": _reals(1, 1, 4, 4), "w": _reals(1, 1, 2, 2), "o": moved}
    (want,) = ort_session(model).run(None, feeds)
    (found,) = RealEngine(read_real(path)).run(feeds).values()
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_box_without_a_size_has_no_points(value: float) -> None:
    op = RoiAlign(2, 2)
    found = op.evaluate([_reals(1, 1, 6, 6), np.full((1, 4), value, np.float32), np.array([0])])
    assert not found[0].any()


REFUSED = {
    "a real position": "(float[4,3] x, float[2] p) => (float[2,3] y) { y = Gather (x, p) }",
    "a flag as position": "(float[4,3] x, bool[2] p) => (float[2,3] y) { y = Gather (x, p) }",
    "a real position of an element": "(float[4,3] x, float[2,3] p) => (float[2,3] y) { y = GatherElements (x, p) }",
    "a real position of a slice": "(float[4,3] x, float[2,1] p) => (float[2,3] y) { y = GatherND (x, p) }",
    "a real position to put to": "(float[4] x, float[2,1] p, float[2] u) => (float[4] y) { y = ScatterND (x, p, u) }",
    "a real position in a cache": "(float[1,4,3] x, float[1,1,3] u, float[1] p) => (float[1,4,3] y)"
    "{ y = TensorScatter (x, u, p) }",
    "real lengths": "(float[5,4] x, float[4] p) => (float[5,4] y) { y = ReverseSequence (x, p) }",
    "lengths beyond": "(float[2,3] x) => (float[2,3] y)"
    "{ p = Constant <value = int64[3] {1, 2, 3}> () y = ReverseSequence (x, p) }",
    "a length below 0": "(float[2,3] x) => (float[2,3] y)"
    "{ p = Constant <value = int64[3] {1, 2, -1}> () y = ReverseSequence (x, p) }",
    "a real place": "(float[1,1,2,2] x, float[1,1,2,2] p) => (float[1,1,4,4] y)"
    "{ y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, p) }",
    "an image beyond": "(float[2,1,6,6] x, float[1,4] r) => (float[1,1,1,1] y)"
    "{ p = Constant <value = int64[1] {2}> () y = RoiAlign <sampling_ratio = 2> (x, r, p) }",
    "real images": "(float[2,1,6,6] x, float[1,4] r, float[1] p) => (float[1,1,1,1] y)"
    "{ y = RoiAlign <sampling_ratio = 2> (x, r, p) }",
    "an axis of none": "(float[4,3] x, int64[2] p) => (float[2,3] y)"
    "{ s = Constant <value = int64[1] {0}> () none = Slice (x, s, s) y = Gather (none, p) }",
}


@pytest.mark.parametrize("name", REFUSED)
def test_onnx_runtime_refuses_what_is_refused(name: str, tmp_path: Path) -> None:
    model, path = parser.parse_model(_HEAD.format(24) + REFUSED[name]), tmp_path / "m.onnx"
    onnx.save(model, path)
    for read in (read_real, codegen.compile_model):
        with pytest.raises(CompileError) as caught:
            read(path)
        assert "LAM-IMPORT-014" in caught.value.text()
    feeds = {i.name: _as_asked(i.type.tensor_type) for i in model.graph.input}
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        ort_session(model).run(None, feeds)


def _as_asked(kind: onnx.TypeProto.Tensor) -> Array:
    shape = [d.dim_value for d in kind.shape.dim]
    return np.ones(shape, onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))


TFLITE = ("GATHER", "GATHER of batches", "GATHER_ND", "EMBEDDING_LOOKUP", "REVERSE_SEQUENCE")


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, "float32") for name in TFLITE), *((name, "int8") for name in TFLITE[:4]), (TFLITE[4], "int16")],
)
def test_tflite(name: str, kind: str, tmp_path: Path) -> None:
    shape, places, result, fields, becomes = {
        "GATHER": ((2, 4, 3), ONE, (2, 7, 3), {"Axis": 1}, _nearest(4)),
        "GATHER of batches": ((2, 4, 3), ONE[:6].reshape(2, 3), (2, 3, 3), {"Axis": 1, "BatchDims": 1}, _nearest(4)),
        "GATHER_ND": ((4, 3, 2), PAIRS, (4, 2), {}, _nearest(4, 3)),
        "EMBEDDING_LOOKUP": ((4, 3), ONE, (7, 3), {}, _nearest(4)),
        "REVERSE_SEQUENCE": ((4, 3), np.array([0, 9, 2, -1]), (4, 3), {"SeqDim": 1, "BatchDim": 0}, _nearest(4)),
    }[name]
    model, scale = Model(), () if kind == "float32" else (0.1,)
    x, p = model.input(shape, kind, scale), model.input(places.shape, "int32")
    op = name.split()[0]
    options = {"GATHER": "GatherOptions", "REVERSE_SEQUENCE": "ReverseSequenceOptions"}.get(op, "")
    ins = [p, x] if op == "EMBEDDING_LOOKUP" else [x, p]
    model.op(op, ins, [model.output(result, kind, scale)], options, **fields)
    numbers = _RNG.integers(-100, 100, shape).astype(kind)
    _check_tflite(model, [numbers, places.astype(np.int32)], [numbers, becomes(places).astype(np.int32)], tmp_path)


def test_tflite_put(tmp_path: Path) -> None:
    model, updates = Model(), _reals(4, 2)
    p, u = model.input((4, 2), "int32"), model.input((4, 2), "float32")
    model.op("SCATTER_ND", [p, u, model.const(np.array([4, 3, 2], np.int32))], [model.output((4, 3, 2), "float32")])
    inside = _nearest(4, 3)(PAIRS).astype(np.int32)
    _check_tflite(model, [PAIRS.astype(np.int32), updates], [inside, updates], tmp_path)


def _check_tflite(model: Model, given: list[Array], inside: list[Array], folder: Path) -> None:
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    ((want,),) = run_litert(model.bytes(), inside)
    _check(path, {port[0]: x for port, x in zip(read_ports(path)[0], given, strict=True)}, want)


def _check(path: Path, feeds: Mapping[str, Array], want: Array) -> None:
    graph = read_real(path)
    scales = {n: graph.values[n].stored for n in graph.inputs}
    real = {n: feeds[n] if s is None else feeds[n] * s.scale for n, s in scales.items()}
    (found,) = RealEngine(graph).run(real).values()
    held = graph.values[graph.outputs[0]].stored
    np.testing.assert_allclose(found, want if held is None else want * held.scale, rtol=0, atol=1e-5)
    golden, made = (next(iter(codegen.run(path, dict(feeds), engine=e).values())) for e in ("golden", "c"))
    assert np.array_equal(golden, made)
    np.testing.assert_allclose(golden, want, rtol=0, atol=1e-5)
