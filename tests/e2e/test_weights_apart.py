"""Weights of one network in several places: in the image, read through the buffer, and held in the arena."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import codegen
from codegen.errors import CompileError
from codegen.lower.pack import PARAMS_ALIGN
from codegen.pipeline import Compiled, Options, compile_file, compile_graph
from codegen.target import load_target
from tests.e2e.projects import DIGITS, SANITIZE, build, host_macros, require_build, run, written
from tests.e2e.test_weights_read import HOST_C, check, depthwise, main_file, through
from tests.support.graphs import conv_chain, residual
from tests.support.shared import ROOT

APART: dict[str, tuple[str, ...]] = {"mapped": ("stem", "classify*"), "pinned": ("res*",)}


def chip(folder: Path, weights: str) -> str:
    """The generic chip with a table of weights."""
    path = folder / "board.toml"
    text = (ROOT / "targets" / "chips" / "reference" / "generic.toml").read_text(encoding="utf-8")
    path.write_text(f"{text}\n[weights]\n{weights}\n", encoding="utf-8")
    return str(path)


def ways(**options: object) -> dict[str, str]:
    return {row.name: row.weights_way for row in codegen.inspect(DIGITS, **options).layers}  # type: ignore[arg-type]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("target", ["host", "cortex-m4"])
@pytest.mark.parametrize("network", ["depthwise", "conv_chain"])
def test_every_tensor_equals_golden(network: str, target: str, tmp_path: Path) -> None:
    """One layer in the image, one in the arena, the others read, late and in another order."""
    graph = depthwise() if network == "depthwise" else conv_chain()
    made = through(graph, 1 << 11, target=target, mapped=("n0*",), pinned=("n1*",))
    weights = made.program.weights
    assert weights is not None
    assert made.program.mapped
    assert weights.pinned
    assert weights.reads
    check(made, tmp_path)


def test_what_is_in_the_image_is_not_in_the_file() -> None:
    plain, made = (compile_file(DIGITS, Options(weights_buffer=4096, vectors=0, **a)) for a in ({}, APART))  # type: ignore[arg-type]
    mapped = made.manifest["weights_mapped_bytes"]
    assert isinstance(mapped, int)
    assert mapped == sum(p.bytes for p in made.program.mapped) > 0
    fewer = len(plain.files["weights.bin"]) - len(made.files["weights.bin"])
    between = sum(max(PARAMS_ALIGN, p.alignment) for p in plain.program.params)
    assert mapped <= fewer < mapped + between
    assert b"const" in made.files["src/digits_qdq_weights.c"]
    assert made.program.params_bytes + 64 == len(made.files["weights.bin"])


def test_inspect_says_where_the_weights_of_each_layer_are() -> None:
    found = ways(weights_buffer=4096, **APART)
    assert (found["stem"], found["residual_first"], found["depthwise"]) == ("mapped", "pinned", "read")


def test_a_read_that_fails_leaves_nothing_under_way(tmp_path: Path) -> None:
    require_build("gcc", SANITIZE, tmp_path)
    made = written(tmp_path / "project", through(depthwise(), 1 << 11, mapped=("n0*",), pinned=("n2*",)))
    flags = ["-O0", *SANITIZE, *host_macros(made)]
    sources, includes = [main_file(made.compiled, tmp_path), *made.sources], [f"-I{HOST_C}", *made.includes]
    failed, reads, _ = map(int, run(build("gcc", flags, sources, tmp_path / "x", includes=includes)).split())
    weights = made.compiled.program.weights
    assert weights is not None
    assert (failed, reads) == (0, len(weights.reads) + 1)


def test_a_file_of_another_training_fits_when_the_image_s_own_layers_are_the_same(tmp_path: Path) -> None:
    """The image holds some of the weights: a training that changed those is another structure."""

    def trained(seed: int) -> Compiled:
        options = Options(weights_buffer=1 << 11, mapped=("n0*",), name="net", vectors=0)
        return compile_graph(residual("single", seed), load_target("host"), options)

    one, other = trained(0), trained(1)
    assert one.manifest["weights_structure"] != other.manifest["weights_structure"]
    assert any(a != b for a, b in zip(_mapped(one), _mapped(other), strict=True))


def _mapped(made: Compiled) -> list[bytes]:
    return [f.values.tobytes() for p in made.program.mapped for f in p.fields]


def test_a_chip_names_layers_of_any_network(tmp_path: Path) -> None:
    """What is asked for of a layer counts before what the chip's file says; names that are no layer's are said."""
    target = chip(tmp_path, 'buffer_bytes = 4096\npin = ["stem", "res*"]\nmap = ["classify*", "head"]')
    made = compile_file(DIGITS, Options(target=target, vectors=0))
    assert made.manifest["weights_pinned_bytes"]
    notes = "\n".join(json.loads(made.files["manifest.json"])["notes"])
    assert "weights.map of generic names 'head'" in notes
    assert "'stem'" not in notes
    found = ways(target=target, mapped=("stem",))
    assert (found["stem"], found["residual_first"], found["classify"]) == ("mapped", "pinned", "mapped")
    assert set(ways(target=target, weights_buffer=0).values()) == {""}
    assert codegen.verify(DIGITS, target=target, samples=1).equal


@pytest.mark.parametrize(
    ("weights", "options", "said"),
    [
        ("buffer_bytes = 4096", {"mapped": ("steam",)}, "LAM-IMPORT-030 mapped: .*'steam'.*stem"),
        ("buffer_bytes = 4096", {"mapped": ("*",)}, "LAM-IMPORT-030 mapped: every layer is mapped"),
        ("buffer_bytes = 4096", {"mapped": ("st*",), "pinned": ("stem",)}, "LAM-IMPORT-030 mapped: stem is to be pin"),
        ("expand = false", {"mapped": ("stem",)}, "LAM-IMPORT-030 mapped: stem .*weights_buffer"),
        ('buffer_bytes = 4096\npin = "stem"', {}, r"LAM-TARGET-005 .*weights\.pin"),
        ('buffer_bytes = 4096\npins = ["stem"]', {}, r"LAM-TARGET-003 .*weights\.pins.*pin"),
        ('buffer_bytes = 4096\npin = ["*"]', {}, "LAM-IMPORT-030 pinned: every layer"),
        (
            'buffer_bytes = 4096\npin = ["stem"]\nmap = ["*m"]',
            {},
            r"LAM-IMPORT-030 generic, weights\.map: stem is to be",
        ),
    ],
)
def test_what_cannot_be_is_refused(weights: str, options: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=said):
        compile_file(DIGITS, Options(target=chip(tmp_path, weights), vectors=0, **options))  # type: ignore[arg-type]


def test_a_model_s_configuration_says_where_its_weights_are(tmp_path: Path) -> None:
    file = tmp_path / "digits.toml"
    file.write_text('[weights]\nbuffer_bytes = 4096\nmap = ["stem", "classify*"]\npin = ["res*"]\n')
    said = codegen.compile_model(DIGITS, out=tmp_path / "said", config=file)
    given = codegen.compile_model(DIGITS, out=tmp_path / "given", weights_buffer=4096, **APART)  # type: ignore[arg-type]
    assert said.manifest["files"] == given.manifest["files"]
    assert said.manifest["weights_mapped_bytes"] > 0
    blob = codegen.compile_model(DIGITS, out=tmp_path / "w.bin", config=file, weights_only=True, fits=tmp_path / "said")
    assert blob.path.read_bytes() == (said.path / "weights.bin").read_bytes()
    other = codegen.compile_model(DIGITS, out=tmp_path / "other", config=file, pinned=("stem",), mapped=("classify",))
    assert other.manifest["weights_mapped_bytes"] < said.manifest["weights_mapped_bytes"]
    none = codegen.compile_model(
        DIGITS, out=tmp_path / "none", weights_buffer=0, config=_toml(tmp_path, "buffer_bytes = 1024")
    )
    assert none.manifest["files"] == codegen.compile_model(DIGITS, out=tmp_path / "plain").manifest["files"]


def _toml(folder: Path, table: str) -> Path:
    (folder / "c.toml").write_text(f"[weights]\n{table}\n")
    return folder / "c.toml"


@pytest.mark.parametrize(
    ("table", "id"),
    [
        ("buffer = 4096", "LAM-PREPROCESS-002"),
        ("buffer_bytes = 7", "LAM-PREPROCESS-003"),
        ("buffer_bytes = -4096", "LAM-PREPROCESS-003"),
        ("buffer_bytes = 4096.0", "LAM-PREPROCESS-003"),
        ("buffer_bytes = true", "LAM-PREPROCESS-003"),
        ('buffer_bytes = "4K"', "LAM-PREPROCESS-003"),
        ('pin = "stem"', "LAM-PREPROCESS-003"),
        ("map = [3]", "LAM-PREPROCESS-003"),
        ('map = [""]', "LAM-PREPROCESS-003"),
        ('pin = ["stem"]', "LAM-IMPORT-030"),
        ('buffer_bytes = 4096\npin = ["nobody"]', "LAM-IMPORT-030"),
        ("[weights]", "LAM-PREPROCESS-001"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(table: str, id: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        codegen.compile_model(DIGITS, out=tmp_path / "p", config=_toml(tmp_path, table))
    assert caught.value.problems()[0].code == id
    assert not (tmp_path / "p").exists()
