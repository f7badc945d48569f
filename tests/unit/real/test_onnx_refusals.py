"""What a RealGraph cannot be read of, with an id each; and bodies that are resolved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from codegen.errors import CompileError, ModelRejected
from codegen.frontends.onnx.real import read_real
from codegen.frontends.onnx.real.translators import FAMILIES, QUANTIZED, TRANSLATORS
from codegen.ir.real import RealGraph
from codegen.real.engine import RealEngine
from codegen.settle.rule import settled_names
from codegen.settle.rules import RULES

_IF = """y = If (c) <then_branch = a () => (float[2] p) { p = Add(x, x) },
    else_branch = b () => (float[2] q) { q = Neg(x) }>"""
_LOOP = """Loop (m, go, x) <body = b (int64 i, bool on, float[2] s) => (bool still, float[2] t, float[2] each)
    { still = Identity(on) t = Add(s, s) each = Neg(s) }>"""

WRONG = {
    "a single number joined": ("float[2] x, float n", "y = Concat <axis=0> (x, n)", "LAM-IMPORT-014"),
    "a single number's slices": ("float n, int64 i", "y = Gather <axis=0> (n, i)", "LAM-IMPORT-014"),
    "a branch by two flags": ("float[2] x, bool[2] c", _IF, "LAM-IMPORT-014"),
    "a branch that reads what nobody makes": (
        "float[2] x",
        f"c = Constant <value = bool {{1}}> () {_IF.replace('Add(x, x)', 'Gemm(x, none)')}",
        "LAM-IMPORT-015",
    ),
    "a branch that reads what was refused": (
        "float[2] x",
        f"c = Constant <value = bool {{1}}> () u = Unknown(x) {_IF.replace('Add(x, x)', 'Gemm(x, u)')}",
        "LAM-IMPORT-007",
    ),
    "steps unknown": ("float[2] x, int64 m, bool go", f"y, z = {_LOOP}", "LAM-IMPORT-077"),
    "an endless loop": (
        "float[2] x",
        f"go = Constant <value = bool[1] {{1}}> () y, z = {_LOOP.replace('m,', ',')}",
        "LAM-IMPORT-004",
    ),
    "an element put beyond the axis": (
        "float[2,4] x, float[2,1] u",
        "i = Constant <value = int64[2,1] {0, 4}> () y = ScatterElements <axis = 1> (x, i, u)",
        "LAM-IMPORT-014",
    ),
    "an element taken from before the axis": (
        "float[2,4] x",
        "i = Constant <value = int64[2,1] {0, -5}> () y = GatherElements <axis = 1> (x, i)",
        "LAM-IMPORT-014",
    ),
    "a slice put beyond an axis": (
        "float[2,4] x, float[1] u",
        "i = Constant <value = int64[1,2] {2, 3}> () y = ScatterND (x, i, u)",
        "LAM-IMPORT-014",
    ),
    "a slice taken from beyond an axis": (
        "float[2,4,3] x",
        "i = Constant <value = int64[2,1] {3, 4}> () y = GatherND <batch_dims = 1> (x, i)",
        "LAM-IMPORT-014",
    ),
    "neither factors nor sizes": ("float[1,1,2,2] x", "y = Resize (x, , )", "LAM-IMPORT-014"),
    "computed sizes": ("float[1,1,2,2] x, int64[4] s", "y = Resize (x, , , s)", "LAM-IMPORT-023"),
    "weights that do not fit": (
        "float[3,1,2] x, float[1,8,3] w, float[1,8,2] r",
        "y = LSTM <hidden_size=2> (x, w, r)",
        "LAM-IMPORT-014",
    ),
    "an equation of other letters": ("float[2] x", 'y = Einsum <equation="1->1"> (x)', "LAM-IMPORT-013"),
    "too long a transform": (
        "float[1,4,1] x",
        "n = Constant <value = int64 {1000000}> () y = DFT (x, n)",
        "LAM-IMPORT-013",
    ),
    "a product of real numbers as integers": ("float[2,2] x", "y = MatMulInteger (x, x)", "LAM-IMPORT-019"),
    "training": (
        "float[2] x",
        "r = Constant <value = float {0.5}> () t = Constant <value = bool {1}> () y = Dropout (x, r, t)",
        "LAM-IMPORT-076",
    ),
    "strings": ("string[2] x", "y = StringNormalizer (x)", "LAM-IMPORT-070"),
    "a constant string": ("float[2] x", 'y = Constant <value_string = "a"> ()', "LAM-IMPORT-070"),
    "a sequence that comes in": ("seq(float[2]) s, int64 i", "y = SequenceAt (s, i)", "LAM-IMPORT-071"),
    "an optional that comes in": ("optional(float[2]) s", "y = OptionalGetElement (s)", "LAM-IMPORT-071"),
    "a sequence inside": ("float[2] x", "y = SequenceConstruct (x, x)", "LAM-IMPORT-071"),
    "the bits of bfloat16": ("bfloat16[2] x", "y = BitCast <to = 5> (x)", "LAM-IMPORT-019"),
    "bits as bfloat16": ("int16[2] x", "y = BitCast <to = 16> (x)", "LAM-IMPORT-019"),
    "float8": ("float8e4m3fn[2] x", "y = Cast <to = 1> (x)", "LAM-IMPORT-072"),
    "complex numbers": ("complex64[2] x", "y = Identity (x)", "LAM-IMPORT-072"),
    "numbers made float8": ("float[2] x", "y = Cast <to = 17> (x)", "LAM-IMPORT-072"),
    "random numbers": ("float[2] x", "y = RandomNormalLike (x)", "LAM-IMPORT-073"),
    "random truth values": ("float[2] x", "y = Bernoulli (x)", "LAM-IMPORT-073"),
    "the file of a picture": ("uint8[99] x", "y = ImageDecoder (x)", "LAM-IMPORT-074"),
    "an optimizer": ("float[2] x", "y = ai.onnx.preview.training.Adam (x, x)", "LAM-IMPORT-075"),
    "statistics of training": (
        "float[1,2,3] x, float[2] s",
        "y, m, v = BatchNormalization <training_mode = 1> (x, s, s, s, s)",
        "LAM-IMPORT-076",
    ),
}


def _read(folder: Path, inputs: str, nodes: str) -> RealGraph:
    text = f'<ir_version: 9, opset_import: ["" : 20]> g ({inputs}) => (float y) {{ {nodes} }}'
    path = folder / "m.onnx"
    model = parser.parse_model(text)
    model.graph.output[0].type.Clear()
    onnx.save(model, path)
    return read_real(path)


@pytest.mark.parametrize("name", list(WRONG))
def test_what_cannot_be_read_is_refused_with_an_id(name: str, tmp_path: Path) -> None:
    inputs, nodes, code = WRONG[name]
    with pytest.raises(ModelRejected) as caught:
        _read(tmp_path, inputs, nodes)
    assert [p.code for p in caught.value.problems()] == [code]


def test_a_family_says_why_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ModelRejected, match=r"node .*operator RandomNormalLike: random numbers have no value that .* golden"
    ):
        _read(tmp_path, "float[2] x", "y = RandomNormalLike (x)")


def test_a_model_of_training_alone_names_its_family(tmp_path: Path) -> None:
    text = """<ir_version: 9, opset_import: ["ai.onnx.preview.training" : 1]>
        g (float[2] x) => (float[2] y) { y = ai.onnx.preview.training.Adam (x, x) }"""
    onnx.save(parser.parse_model(text), tmp_path / "m.onnx")
    with pytest.raises(CompileError, match=r"LAM-IMPORT-075 .*only infer"):
        read_real(tmp_path / "m.onnx")


@pytest.mark.parametrize(("taken", "wanted"), [(1, [2, -4]), (0, [-1, 2])])
def test_the_branch_of_a_known_condition_is_read(taken: int, wanted: list[int], tmp_path: Path) -> None:
    nodes = f"c = Constant <value = bool {{{taken}}}> () " + _IF
    graph = _read(tmp_path, "float[2] x", nodes)
    assert len(graph.nodes) == 1
    (y,) = RealEngine(graph).run({"x": np.array([1, -2], np.float32)}).values()
    assert y.tolist() == wanted


def test_the_steps_of_a_loop_are_read_one_by_one(tmp_path: Path) -> None:
    known = "m = Constant <value = int64 {3}> () go = Constant <value = bool {1}> () "
    graph = _read(tmp_path, "float[2] x", f"{known} last, y = {_LOOP}")
    (y,) = RealEngine(graph).run({"x": np.array([1, -2], np.float32)}).values()
    assert y.tolist() == [[-1, 2], [-2, 4], [-4, 8]]


def test_each_operator_is_read_by_one_family() -> None:
    assert len(TRANSLATORS) == sum(map(len, FAMILIES))


def test_rules_name_operators_that_are_read() -> None:
    """A name that no file has would promise what nobody can write."""
    functions_of_others = {"GeluTanh", "Rsqrt"}
    assert settled_names(RULES) - functions_of_others <= {name for _, name in TRANSLATORS}
    assert all(rule.names for rule in RULES.values())
    assert len(QUANTIZED) > 100


BARE = ("Sum", "Mean", "Max", "Min", "Concat <axis=0>", 'Einsum <equation="i->i">', "Gemm", "LayerNormalization")


@pytest.mark.parametrize("operator", BARE)
def test_body_whose_operands_nobody_gives(operator: str, tmp_path: Path) -> None:
    text = f"""<ir_version: 9, opset_import: ["" : 20, "mine" : 1]> g (float[2] x) => (float[2] y) {{ y = mine.F (x) }}
        <domain: "mine", opset_import: ["" : 20]> F (a, b, c) => (d) {{ d = {operator} (b, c, a) }}"""
    text = text.replace("(b, c, a)", "(b)") if "Einsum" in operator else text
    path = tmp_path / "m.onnx"
    onnx.save(parser.parse_model(text), path)
    with pytest.raises(ModelRejected, match=r"LAM-IMPORT-015 .*input 0 is required"):
        read_real(path)
