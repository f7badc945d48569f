"""Names are data: whatever a model's names say, no file of its project says anything else than for harmless ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from codegen import verify
from codegen.pipeline import Compiled, Options, compile_file, compile_graph
from codegen.process import check_program
from codegen.report.plan import plan_record
from codegen.report.plot import plan_picture
from codegen.target import load_target
from tests.support.graphs import keeping
from tests.support.hostile import NAMES, graph_named, onnx_named, tflite_named, written
from tests.support.tools import require_module, require_tool

Bytes = Callable[[str], bytes]
TRIGRAPHS = dict(zip("=/'()!<>-", "#\\^[]|{}~", strict=True))
TOKEN = re.compile(r"""(/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\w+|\n|[^\w\s]""", re.DOTALL)
FORMS = (
    (onnx_named, ".onnx", Options()),
    (onnx_named, ".onnx", Options(target="cortex-m4", weights="blob", stream_input=True)),
    (onnx_named, ".onnx", Options(target="gap8-like")),
    (tflite_named, ".tflite", Options(target="cortex-m55")),
)


IDS = re.compile(',[0-9a-f]{16}(?=[,"])')
"""What the self-test's log says of the code and of the model's file, whose bytes the names are part of."""


def tokens(text: str) -> list[str]:
    """Translation phases 1 to 3 of C99, comments left out, ends of lines kept; ids are all one."""
    text = IDS.sub(",id", text)
    text = re.sub(r"\?\?([=/'()!<>-])", lambda m: TRIGRAPHS[m[1]], text).replace("\\\n", "")
    return [m[0] for m in TOKEN.finditer(text) if m[1] is None]


def compiled(make: Bytes, ending: str, options: Options, stem: str, folder: Path, name: str = "net") -> Compiled:
    return compile_file(written(make(stem), folder, name + ending), options)


def is_c(path: str) -> bool:
    return path.endswith((".c", ".h"))


def is_spelled(path: str) -> bool:
    """Whether the file is one of the two that spell the model's texts in code."""
    return path.endswith(("_helpers.h", "_info.c"))


def shape(text: str) -> list[str]:
    """The tokens of a file of texts: each string one sign, each name of a port another."""
    found = [re.sub(r"_(IN|OUT)PUT_\w+", "PORT", token) for token in tokens(text)]
    return ["TEXT" if token.startswith('"') else token for token in found]


def check_same(plain: Mapping[str, bytes], found: Mapping[str, bytes]) -> None:
    """The files say the same but for names."""
    assert plain.keys() == found.keys()
    for path, data in found.items():
        text = data.decode("ascii") if path != "weights.bin" else ""
        assert not re.search(r"[^ -~\n]", text), path
        if is_spelled(path):
            assert shape(text) == shape(plain[path].decode("ascii")), path
        elif is_c(path):
            assert tokens(text) == tokens(plain[path].decode("ascii")), path
    assert found["CMakeLists.txt"] == plain["CMakeLists.txt"]
    assert outline(found["README.md"]) == outline(plain["README.md"])


def outline(readme: bytes) -> list[str]:
    """The README with the inside of its code spans left out."""
    return [re.sub("`[^`]*`", "``", line) for line in readme.decode("ascii").split("\n")]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("make", "ending", "options"), FORMS, ids=["host", "streamed blob", "scratchpad", "tflite"])
def test_code_of_hostile_names_is_code_of_harmless_names(
    make: Bytes, ending: str, options: Options, tmp_path: Path
) -> None:
    plain = compiled(make, ending, options, "t", tmp_path)
    for stem in NAMES:
        check_same(plain.files, compiled(make, ending, options, stem, tmp_path).files)


def test_states_and_every_value_of_a_graph_are_data_too() -> None:
    target = load_target("host")
    plain = compile_graph(graph_named(keeping(), "t"), target, Options())
    for stem in NAMES:
        check_same(plain.files, compile_graph(graph_named(keeping(), stem), target, Options()).files)


def test_the_preprocessor_sees_the_same_tokens(tmp_path: Path) -> None:
    require_tool("gcc")
    texts = []
    for stem in ("t", NAMES[0], NAMES[3]):
        made = compiled(onnx_named, ".onnx", Options(), stem, tmp_path)
        for path, data in made.files.items():
            written(data, tmp_path / "p" / Path(path).parent, Path(path).name)
        sources = sorted(p for p in (tmp_path / "p").glob("*/*.c") if not is_spelled(p.name))
        includes = [f"-I{tmp_path / 'p' / folder}" for folder in ("include", "src", "runtime")]
        argv = ["gcc", "-std=c99", "-trigraphs", "-Wall", "-Werror", "-E", "-P", "-DNET_TRACE", *includes, *sources]
        texts.append(check_program(argv, timeout_s=60).stdout)
    assert len(texts[0]) > 1000
    assert texts[0] == texts[1] == texts[2]


def test_files_and_options_named_like_code_give_plain_identifiers(tmp_path: Path) -> None:
    plain = code(compiled(onnx_named, ".onnx", Options(name="harmless"), "t", tmp_path))
    for stem in NAMES:
        file = re.sub("[/\0]", "_", stem)[:60]
        for options in (Options(), Options(name=stem)):
            assert code(compiled(onnx_named, ".onnx", options, "t", tmp_path, file)) == plain


def test_a_network_named_like_a_function_of_the_c_library_runs_its_own(tmp_path: Path) -> None:
    """The C library on Linux has a svc_run, which a shared library that calls one of that name finds before its own."""
    require_tool("gcc")
    found = verify(written(onnx_named("t"), tmp_path, "svc.onnx"), samples=1)
    assert found.equal
    assert found.samples == 1


def code(made: Compiled) -> dict[str, list[str]]:
    """The tokens of every C file, with NETWORK for the network's name."""

    def anonymous(text: str) -> str:
        return re.sub(made.program.name, "NETWORK", text, flags=re.IGNORECASE)

    files = {p: d.decode("ascii") for p, d in made.files.items() if is_c(p) and not is_spelled(p)}
    return {anonymous(p): tokens(anonymous(text)) for p, text in files.items()}


def test_the_manifest_holds_the_names_as_they_are(tmp_path: Path) -> None:
    for stem in NAMES:
        made = compiled(onnx_named, ".onnx", Options(), stem, tmp_path)
        manifest = json.loads(made.files["manifest.json"])
        assert manifest["inputs"][0]["name"].startswith(stem)
        assert manifest["name"] == "net"


def test_a_picture_of_hostile_names_has_the_elements_of_harmless_ones(tmp_path: Path) -> None:
    require_module("matplotlib")
    target = load_target("host")
    shapes = []
    for stem in ("t", NAMES[5], NAMES[7]):
        made = compile_graph(graph_named(keeping(), stem), target, Options())
        picture = plan_picture(plan_record(made.plan, made.program, made.shadow), stem)
        shapes.append({e.tag for e in ElementTree.fromstring(picture).iter()})
        assert stem == "t" or b"<script>" not in picture
        assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", picture)
    assert shapes[0] == shapes[1] == shapes[2]
