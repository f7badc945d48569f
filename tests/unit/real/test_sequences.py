"""Sequences of tensors, gone when a model is read: as ONNX Runtime has them, and what is refused of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from codegen.api import verify
from codegen.errors import ModelRejected
from codegen.frontends import read_real
from codegen.real.engine import RealEngine
from tests.support.outsider import ort_session

_APPENDED = """e = SequenceEmpty() m = Constant <value = int64 {3}> () t = Constant <value = bool {1}> ()
    last, s = Loop (m, t, x, e) <body = b (int64 i, bool on, float[4,2] z, seq(float[4,2]) q) =>
        (bool on_, float[4,2] u, seq(float[4,2]) r) { on_ = Identity (on) u = Add (z, z) r = SequenceInsert (q, u) }>"""
_MAPPED = """m = SequenceMap (s, t) <body = b (float[1,2] p, float[1,2] o) => (float[1,2] q)
    { r = Mul(p, w) q = Sub(r, o) }>"""

SEQUENCES = {
    "parts of one size": "n = Constant <value = int64 {3}> () s = SplitToSequence <axis = 0> (x, n)",
    "parts of given sizes": "n = Constant <value = int64[2] {3, 1}> () s = SplitToSequence (x, n)",
    "single entries": "s = SplitToSequence <axis = -2> (x)",
    "entries without their axis": "s = SplitToSequence <axis = 1, keepdims = 0> (x)",
    "made of tensors": "p = Neg (x) s = SequenceConstruct (x, p, x)",
    "put at the end": "p = Neg (x) e = SequenceEmpty() k = SequenceInsert (e, x) s = SequenceInsert (k, p)",
    "put before": """p = Neg (x) q = Abs (x) e = SequenceConstruct (x, p) i = Constant <value = int64 {-1}> ()
        s = SequenceInsert (e, q, i)""",
    "the last one gone": "p = Neg (x) e = SequenceConstruct (x, p) s = SequenceErase (e)",
    "the first one gone": """p = Neg (x) e = SequenceConstruct (x, p) i = Constant <value = int64 {0}> ()
        s = SequenceErase (e, i)""",
    "a copy": "e = SequenceConstruct (x, x) s = Identity (e)",
    "of a loop": _APPENDED,
    "a known branch": """c = Constant <value = bool {0}> ()
        s = If (c) <then_branch = a () => (seq(float) p) { p = SequenceConstruct (x) },
            else_branch = b () => (seq(float) q) { n = Neg (x) q = SequenceConstruct (n, x) }>""",
}
_COUNTED = "the last one and their number"
ENDS = {
    "joined": "y = ConcatFromSequence <axis = -1> (s)",
    "stacked": "y = ConcatFromSequence <axis = 1, new_axis = 1> (s)",
    _COUNTED: """j = Constant <value = int64 {-1}> () a = SequenceAt (s, j)
        l = SequenceLength (s) f = Cast <to = 1> (l) y = Add (a, f)""",
}


def _written(folder: Path, nodes: str, inputs: str = "float[4,2] x") -> Path:
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> g ({inputs}) => (float y) {{ {nodes} }}')
    model.graph.output[0].type.tensor_type.ClearField("shape")
    path = folder / "m.onnx"
    onnx.save(model, path)
    return path


def _agrees(path: Path) -> None:
    """The engine's results are ONNX Runtime's, and the C's golden's."""
    rng = np.random.default_rng(3)
    graph = read_real(path)
    feeds = {i: rng.normal(size=graph.values[i].type.shape).astype(np.float32) for i in graph.inputs}
    (wanted,) = ort_session(onnx.load(path)).run(None, feeds)
    (found,) = RealEngine(graph).run(feeds).values()
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)
    assert verify(path, samples=1).equal


PAIRS = [(name, end) for name in SEQUENCES for end in ENDS if end == _COUNTED or not name.startswith("parts")]
"""What ends in one tensor; parts of different sizes are neither stacked nor joined along another axis."""


@pytest.mark.parametrize(("name", "end"), PAIRS)
def test_a_sequence_is_what_onnxruntime_has(name: str, end: str, tmp_path: Path) -> None:
    _agrees(_written(tmp_path, f"{SEQUENCES[name]} {ENDS[end]}"))


def test_a_function_of_each_tensor_reads_what_is_outside_it(tmp_path: Path) -> None:
    nodes = f"s = SplitToSequence (x) t = SplitToSequence (w4) {_MAPPED} y = ConcatFromSequence <axis = 0> (m)"
    _agrees(_written(tmp_path, nodes, "float[4,2] x, float[4,2] w4, float[2] w"))


@pytest.mark.parametrize("name", ["additional_inputs_1", "input_sequence", "SequenceMap_input_sequence_seqlen"])
def test_what_a_map_reads_from_outside_may_be_called_as_inside_onnxs_own_function(name: str, tmp_path: Path) -> None:
    """ONNX Runtime, which has the function, takes one for the other."""
    nodes = f"""{name} = Exp (x) p = Neg (x) s = SequenceConstruct (x, p)
        m = SequenceMap (s, x) <body = b (float[4,2] u, float[4,2] v) => (float[4,2] q)
            {{ r = Add (u, {name}) q = Add (r, v) }}> y = ConcatFromSequence <axis = 0> (m)"""
    x = np.random.default_rng(3).normal(size=(4, 2)).astype(np.float32)
    (found,) = RealEngine(read_real(_written(tmp_path, nodes))).run({"x": x}).values()
    np.testing.assert_allclose(found, np.concatenate([x + np.exp(x) + x, np.exp(x)]), rtol=0, atol=1e-6)


def test_a_map_within_a_map_reads_the_outer_ones_tensor(tmp_path: Path) -> None:
    nodes = """s = SplitToSequence (x) t = SplitToSequence (w)
        m = SequenceMap (s) <body = b (float[1,2] p) => (float[1,2] q)
            { n = SequenceMap (t) <body = c (float[1,2] o) => (float[1,2] r) { r = Mul (o, p) }>
              a = ConcatFromSequence <axis = 0> (n) q = ReduceMax <keepdims = 1> (a, zero) }>
        y = ConcatFromSequence <axis = 0> (m)"""
    path = _written(tmp_path, f"zero = Constant <value = int64[1] {{0}}> () {nodes}", "float[4,2] x, float[3,2] w")
    x, w = (np.random.default_rng(3).normal(size=(n, 2)).astype(np.float32) for n in (4, 3))
    (found,) = RealEngine(read_real(path)).run({"x": x, "w": w}).values()
    np.testing.assert_array_equal(found, (x[:, None] * w).max(axis=1))


WRONG = {
    "an output": ("y = SequenceConstruct (x, x)", "LAM-IMPORT-071 output 'y': a sequence"),
    "a tensor's operator": ("s = SequenceConstruct (x, x) y = Neg (s)", "LAM-IMPORT-071 .*input 's' is a sequence"),
    "a body's result": (
        """m = Constant <value = int64 {2}> () t = Constant <value = bool {1}> ()
        y = Loop (m, t) <body = b (int64 i, bool on) => (bool still, seq(float) r)
            { still = Identity(on) r = SequenceConstruct (x) }>""",
        "LAM-IMPORT-071 .*the steps give",
    ),
    "a map's result": (
        """s = SequenceConstruct (x, x)
        y = SequenceMap (s) <body = b (float[4,2] u) => (seq(float) r) { r = SequenceConstruct (u) }>""",
        "LAM-IMPORT-071 .*the body gives",
    ),
    "a map of sequences of different lengths": (
        """s = SequenceConstruct (x, x) t = SequenceConstruct (x)
        m = SequenceMap (s, t) <body = b (float[4,2] u, float[4,2] v) => (float[4,2] r) { r = Add (u, v) }>
        y = ConcatFromSequence <axis = 0> (m)""",
        "LAM-IMPORT-014 .*do not fit the body, or each other",
    ),
    "a computed branch": (
        """z = ReduceSum <keepdims = 0> (x) c = Greater (z, z)
        s = If (c) <then_branch = a () => (seq(float) p) { p = SequenceConstruct (x) },
            else_branch = b () => (seq(float) q) { q = SequenceConstruct (x, x) }>
        y = ConcatFromSequence <axis = 0> (s)""",
        "LAM-IMPORT-077 .*a sequence of 1 and a sequence of 2",
    ),
    "a tensor for a sequence": ("y = SequenceLength (x)", "LAM-IMPORT-014 .*'x' is a tensor and no sequence"),
    "a place beyond": (
        "s = SequenceConstruct (x, x) i = Constant <value = int64 {2}> () y = SequenceAt (s, i)",
        "LAM-IMPORT-014 .*position 2 in a sequence of 2 tensors",
    ),
    "a place in nothing": ("s = SequenceEmpty () y = SequenceErase (s)", "LAM-IMPORT-014 .*position -1"),
    "a computed place": (
        "s = SequenceConstruct (x, x) i = ArgMax <axis = 0, keepdims = 0> (f) y = SequenceAt (s, i)",
        "LAM-IMPORT-023 .*'i' is not a constant",
    ),
    "nothing joined": (
        "s = SequenceEmpty () y = ConcatFromSequence <axis = 0> (s)",
        "LAM-IMPORT-022 .*a sequence without tensors",
    ),
    "parts of nothing": (
        "n = Constant <value = int64 {0}> () s = SplitToSequence (x, n) y = ConcatFromSequence <axis = 0> (s)",
        "LAM-IMPORT-014 .*parts of size 0",
    ),
    "parts that are too much": (
        "n = Constant <value = int64[2] {3, 2}> () s = SplitToSequence (x, n) y = ConcatFromSequence <axis = 0> (s)",
        r"LAM-IMPORT-014 .*split into \[3, 2\]",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_sequence_of_known_tensors_is_refused(name: str, tmp_path: Path) -> None:
    nodes, said = WRONG[name]
    path = _written(tmp_path, nodes, "float[4,2] x, float[3] f")
    with pytest.raises(ModelRejected, match=said):
        read_real(path)
