"""Packages as their ecosystems take them: built, installed and run where that can be, else read by their rules."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from codegen.cli import main
from codegen.emit.names import package_version
from codegen.errors import OptionBad, PackageUnfit
from codegen.options import PACKAGES
from codegen.pipeline import Options, compile_file
from codegen.process import check_program, run_program
from tests.e2e.projects import DIGITS, TINY, Project, build, run, written
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_installed, require_module, require_tool

SAID = "digits: all vectors right\n"


def packed(folder: Path, *names: str, **options: object) -> Project:
    given = Options(name="digits", package=names, **options)  # type: ignore[arg-type]
    return written(folder / "digits", compile_file(DIGITS, given))


def cmake(folder: Path, *arguments: object) -> None:
    require_tool("cmake")
    check_program(["cmake", *map(str, arguments)], cwd=folder, timeout_s=120)


_CONSUMER = """
cmake_minimum_required(VERSION 3.13)
project(app C)
{how}
add_executable(app main.c)
target_link_libraries(app PRIVATE lamina::digits)
"""
_APP = """
#include "digits_helpers.h"
static uint8_t arena[DIGITS_ARENA_SIZE] DIGITS_ARENA_ALIGNED;
int main(void)
{
    digits_t net;
    const digits_memory memory = DIGITS_MEMORY(arena);
    if (digits_init(&net, &memory) != LAM_OK) {
        return 1;
    }
    memset(digits_input(&net, 0), 0, DIGITS_INPUT0_BYTES);
    return digits_run(&net) == LAM_OK && digits_info()->layers == 9 ? 0 : 1;
}
"""
HOW = {
    "find_package": "find_package(digits 1.4 REQUIRED)",
    "FetchContent": "include(FetchContent)\nFetchContent_Declare(digits SOURCE_DIR {project})\n"
    "FetchContent_MakeAvailable(digits)",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("how", HOW)
def test_a_second_cmake_project_uses_it(how: str, tmp_path: Path) -> None:
    made = packed(tmp_path, "cmake", model_version="1.4.2")
    if how == "find_package":
        cmake(tmp_path, "-S", made.folder, "-B", "lib", "-DCMAKE_BUILD_TYPE=Release")
        cmake(tmp_path, "--build", "lib", "--target", "lamina_digits", "--target", "digits_selftest")
        cmake(tmp_path, "--install", "lib", "--prefix", tmp_path / "installed")
        made.folder.rename(tmp_path / "gone")
    app = tmp_path / "app"
    app.mkdir()
    (app / "main.c").write_text(_APP)
    (app / "CMakeLists.txt").write_text(_CONSUMER.format(how=HOW[how].format(project=made.folder)))
    cmake(tmp_path, "-S", app, "-B", "build", f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}")
    cmake(tmp_path, "--build", "build")
    check_program([str(tmp_path / "build" / "app")], timeout_s=60)


def test_the_presets_build_for_the_chip(tmp_path: Path) -> None:
    require_tool("arm-none-eabi-gcc")
    made = packed(tmp_path, "cmake", target="cortex-m4", weights="blob")
    cmake(made.folder, "--preset", "chip")
    cmake(made.folder, "--build", "--preset", "chip")
    assert (made.folder / "build" / "chip" / "liblamina_digits.a").is_file()
    cmake(made.folder, "--install", "build/chip", "--prefix", tmp_path / "at")
    assert (tmp_path / "at" / "share" / "lamina" / "digits" / "weights.bin").is_file()


def test_zephyr_s_files_say_what_its_documentation_asks(tmp_path: Path) -> None:
    made = packed(tmp_path, "zephyr").folder / "zephyr"
    keys = re.findall(r"^( *)(\w+):(?: (.+))?$", (made / "module.yml").read_text(), re.MULTILINE)
    assert keys == [
        ("", "name", "lamina_digits"),
        ("", "build", ""),
        ("  ", "cmake", "zephyr"),
        ("  ", "kconfig", "zephyr/Kconfig"),
    ]
    defined = set(re.findall(r"^config (\w+)$", (made / "Kconfig").read_text(), re.MULTILINE))
    used = re.findall(r"CONFIG_(LAMINA\w+)", (made / "CMakeLists.txt").read_text())
    asked = re.findall(r"^CONFIG_(LAMINA\w+)=y$", (made / "sample" / "prj.conf").read_text(), re.MULTILINE)
    assert defined == set(used) == set(asked)
    assert (made / "Kconfig").read_text().count("\nif ") == (made / "Kconfig").read_text().count("\nendif")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("cortex-m3", "    arch_allow: arm\n    integration_platforms:\n      - qemu_cortex_m3\n"),
        ("cortex-m4", "    arch_allow: arm\n    filter: CONFIG_CPU_CORTEX_M4 or "),
        ("cortex-m55", "    arch_allow: arm\n    filter: CONFIG_ARMV8_1_M_MVEI\n"),
        ("rv32imc", "    arch_allow: riscv\n    integration_platforms:\n      - qemu_riscv32\n"),
        ("generic", "lamina\n    integration_platforms:\n      - qemu_cortex_m3\n      - qemu_riscv32\n"),
    ],
)
def test_twister_is_told_which_boards_have_the_core(target: str, said: str) -> None:
    files = compile_file(TINY, Options(target=target, package=("zephyr",), vectors=0)).files
    assert said in files["zephyr/sample/sample.yaml"].decode()


def test_twister_is_told_the_board_of_the_page() -> None:
    """The page's board, and a module compiled for its core: another one gives a warning, which fails there."""
    firmware = ROOT / "examples" / "firmware" / "zephyr"
    said = (firmware / "sample.yaml").read_text()
    for page in (ROOT / "docs" / "packages" / "zephyr.md", firmware / "README.md"):
        (core,) = re.findall(r"lamina compile .* -t (\S+)", page.read_text())
        (board,) = re.findall(r"west build -b (\S+)", page.read_text())
        assert board == f"qemu_{core.replace('-', '_')}"
        for key in ("platform_allow", "integration_platforms"):
            assert f"    {key}:\n      - {board}\n" in said
    (module,) = re.findall(r"-- -DEXTRA_ZEPHYR_MODULES=(\S+)$", (firmware / "README.md").read_text(), re.MULTILINE)
    assert f"EXTRA_ZEPHYR_MODULES={module}" in said


def test_the_readme_names_the_cpp_header_that_is_there() -> None:
    with_it, without = (
        compile_file(DIGITS, Options(name="digits", package=package, vectors=0)).files for package in (("cpp",), ())
    )
    assert "cpp/digits.hpp" in with_it
    assert b"`cpp/digits.hpp`" in with_it["README.md"]
    assert b"hpp" not in without["README.md"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("weights", ["c", "blob"])
def test_espressif_s_own_tool_takes_the_component(weights: str, tmp_path: Path) -> None:
    compote = require_installed("compote")
    made = packed(tmp_path, "esp-idf", weights=weights)
    check_program([compote, "manifest", "lint", "idf_component.yml"], cwd=made.folder, timeout_s=120)
    argv = [compote, "component", "pack", "--name", "digits", "--dest-dir", str(tmp_path / "out")]
    check_program(argv, cwd=made.folder, timeout_s=120)
    assert (tmp_path / "out" / "digits_1.0.0.tgz").is_file()
    manifest = made.folder / "idf_component.yml"
    manifest.write_text(manifest.read_text().replace('"1.0.0"', '"1.0"'))
    argv = [str(compote), "manifest", "lint", "idf_component.yml"]
    assert run_program(argv, cwd=made.folder, timeout_s=120).returncode != 0


_SCHEMA = """
import sys
from platformio.package.manifest.parser import ManifestParserFactory
from platformio.package.manifest.schema import ManifestSchema
record = ManifestParserFactory.new_from_file(sys.argv[1]).as_dict()
del record["license"]  # which it would look up in a list on the web
print(ManifestSchema().load_manifest(record)["version"])
"""


def test_platformio_s_own_schema_takes_the_library(tmp_path: Path) -> None:
    require_module("platformio")
    made = packed(tmp_path, "platformio", model_version="2.0.1")
    manifest = made.folder / "platformio" / "digits" / "library.json"
    argv = [sys.executable, "-c", _SCHEMA, str(manifest)]
    assert check_program(argv, timeout_s=120).stdout.decode().split() == ["2.0.1"]
    manifest.write_text(manifest.read_text().replace('"2.0.1"', '"later"'))
    assert run_program(argv, timeout_s=120).returncode != 0


def test_the_platformio_library_is_one_folder_that_compiles(tmp_path: Path) -> None:
    require_tool("gcc")
    made = packed(tmp_path, "platformio")
    library = made.folder / "platformio" / "digits"
    record: Mapping[str, object] = json.loads((library / "library.json").read_text())
    assert record["name"] == "digits"
    for name in record["headers"]:  # type: ignore[attr-defined]
        assert (library / "src" / name).is_file()
    example = record["examples"][0]  # type: ignore[index]
    assert all((library / example["base"] / path).is_file() for path in example["files"])
    sources = [*sorted((library / "src").glob("*.c")), library / "examples" / "selftest" / "src" / "main.c"]
    program = build("gcc", ("-O1",), sources, tmp_path / "p", includes=[f"-I{library / 'src'}"])
    assert run(program) == SAID


def pack_of(folder: Path, **options: object) -> tuple[Path, zipfile.ZipFile, ElementTree.Element]:
    made = packed(folder, "cmsis-pack", **options)
    (archive,) = made.folder.glob("*.pack")
    return made.folder, zipfile.ZipFile(archive), ElementTree.parse(made.folder / "lamina.digits.pdsc").getroot()


def test_the_pack_s_description_is_of_the_schema(tmp_path: Path) -> None:
    require_module("lxml")
    from lxml import etree

    folder, _, _ = pack_of(tmp_path, model_version="3.2.1")
    schema = etree.XMLSchema(etree.parse(str(shared_dir() / "ecosystems" / "PACK.xsd")))
    tree = etree.parse(str(folder / "lamina.digits.pdsc"))
    assert schema.validate(tree), schema.error_log
    tree.getroot().remove(tree.getroot().find("releases"))
    assert not schema.validate(tree)


def test_the_pack_holds_what_its_description_names_and_nothing_else(tmp_path: Path) -> None:
    folder, archive, root = pack_of(tmp_path, model_version="3.2.1")
    assert archive.filename is not None
    assert Path(archive.filename).name == "lamina.digits.3.2.1.pack"
    names = set(archive.namelist())
    listed = {item.attrib["name"] for item in root.iter("file")}
    folders = {name for name in listed if name.endswith("/")}
    assert listed - folders <= names
    assert all(any(name.startswith(place) for name in names) for place in folders)
    example = next(root.iter("example"))
    load = next(root.iter("environment")).attrib["load"]
    assert {f"{example.attrib['folder']}/{name}" for name in (load, example.attrib["doc"])} <= names
    assert {n for n in names - listed if not n.startswith("cmsis/")} == {"lamina.digits.pdsc"}
    assert all(archive.read(name) == (folder / name).read_bytes() for name in names)
    assert {item.attrib["version"] for item in root.iter("release")} == {"3.2.1"}
    known = {item.attrib["id"] for item in root.iter("condition")}
    assert {c.attrib["condition"] for c in root.iter("component") if "condition" in c.attrib} == known
    components = {(c.attrib["Cgroup"], c.attrib["Csub"]) for c in next(root.iter("components"))}
    assert {(r.attrib["Cgroup"], r.attrib["Csub"]) for r in root.iter("require")} <= components


def test_the_components_of_the_pack_make_its_example(tmp_path: Path) -> None:
    require_tool("gcc")
    _, archive, root = pack_of(tmp_path)
    archive.extractall(tmp_path / "at")
    listed = [(f.attrib["category"], tmp_path / "at" / f.attrib["name"]) for f in root.iter("file")]
    sources = [path for category, path in listed if category == "sourceC"]
    includes = [f"-I{path}" for category, path in listed if category == "include"]
    main = tmp_path / "at" / "cmsis" / "selftest" / "main.c"
    run(build("gcc", ("-O1",), [*sources, main], tmp_path / "p", includes=includes))


def test_the_pack_is_the_same_each_time(tmp_path: Path) -> None:
    made = [compile_file(DIGITS, Options(name="digits", package=("cmsis-pack",))).files for _ in range(2)]
    assert made[0]["lamina.digits.1.0.0.pack"] == made[1]["lamina.digits.1.0.0.pack"]


def test_packages_that_cannot_carry_a_project_are_refused() -> None:
    for name in PACKAGES:
        if name in ("cmake", "cpp"):
            compile_file(TINY, Options(package=(name,), target="gap8-like", vectors=0))
            continue
        with pytest.raises(PackageUnfit, match=name):
            compile_file(TINY, Options(package=(name,), vectors=0, target="gap8-like"))


@pytest.mark.parametrize("said", [(), ("--package", "zephyr, cmake"), ("--package", "all")])
def test_the_command_takes_names_or_none(said: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "digits"
    assert main(["compile", str(DIGITS), "-o", str(out), "-q", *said]) == 0
    assert (out / "zephyr" / "module.yml").is_file() == bool(said)


def test_the_command_refuses_other_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for said in ("", "cargo", "zephyr,", "zephyr cmake", "ALL"):
        assert main(["compile", str(DIGITS), "-o", str(tmp_path / "x"), "--package", said]) == 2
        assert "LAM-IMPORT-030" in capsys.readouterr().err
        assert not (tmp_path / "x").exists()


def test_names_of_packages_and_versions() -> None:
    assert Options(package=("all",)).package == PACKAGES
    assert Options(package=("zephyr", "zephyr")).package == ("zephyr",)
    with pytest.raises(OptionBad, match="cargo"):
        Options(package=("cargo",))
    said = ("1.4.0", "1.4", "01.4.0", "v1.4.0", '1.0.0"', "", "10.20.30\n")
    assert [package_version(v) for v in said] == ["1.4.0", *["1.0.0"] * 6]


def test_a_project_without_packages_has_none_of_their_files(tmp_path: Path) -> None:
    plain, all_of = compile_file(DIGITS, Options()).files, compile_file(DIGITS, Options(package=("all",))).files
    assert {p for p in plain if plain[p] != all_of[p]} <= {"CMakeLists.txt", "README.md", "manifest.json"}
    assert len(all_of) > len(plain) + 20
