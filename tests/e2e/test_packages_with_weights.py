"""Packages of projects whose weights are a file: in the image, in a partition, or read while the network runs."""

from __future__ import annotations

import re
import shutil
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from codegen.errors import PackageUnfit
from codegen.pipeline import Options, compile_file
from codegen.process import check_program, run_program
from tests.e2e.projects import DIGITS, Project, build, run, written
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_module, require_tool

WAYS = {"mapped": {"weights": "blob"}, "read": {"weights_buffer": 2048, "mapped": ("stem",)}}
RIGHT = "digits: all vectors right"
GREATEST = "digits: output 0 is greatest at "


def packed(folder: Path, way: str, *names: str) -> Project:
    options = Options(name="digits", package=names, **WAYS[way])  # type: ignore[arg-type]
    return written(folder / "digits", compile_file(DIGITS, options))


def stand_in(folder: Path, module: str, *arguments: str) -> str:
    """What a program of an ecosystem says."""
    argv = [sys.executable, "-m", f"tests.stand_ins.{module}", module, *arguments]
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    return check_program(argv, cwd=folder, env=env, timeout_s=200).stdout.decode()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WAYS)
def test_a_partition_of_esp_idf_has_them(way: str, tmp_path: Path) -> None:
    require_tool("cmake", "gcc")
    made = packed(tmp_path, way, "esp-idf")
    where = ("-C", "digits/examples/selftest")
    stand_in(tmp_path, "compote", "manifest", "lint", "digits/idf_component.yml")
    stand_in(tmp_path, "idf_py", *where, "set-target", "esp32s3")
    said = stand_in(tmp_path, "idf_py", *where, "build", "flash", "monitor")
    assert said.splitlines()[-2] == RIGHT
    assert GREATEST in said
    firmware = made.folder / "examples" / "selftest" / "build"
    flash = firmware / "flash" / "weights.bin"
    flash.write_bytes(flash.read_bytes()[:-1] + b"\x55")
    assert "self-test gave -1" in run(firmware / "firmware")
    flash.unlink()
    assert run(firmware / "firmware") == "digits: no partition called weights\n"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WAYS)
def test_a_zephyr_sample_has_them_in_its_image(way: str, tmp_path: Path) -> None:
    require_tool("cmake", "gcc")
    packed(tmp_path, way, "zephyr")
    stand_in(tmp_path, "west", "build", "-b", "qemu_cortex_m3", "digits/zephyr/sample")
    said = stand_in(tmp_path, "west", "build", "-t", "run")
    assert RIGHT in said
    assert said.count(GREATEST) == 3


def test_a_zephyr_sample_reads_them_out_of_a_flash_area(tmp_path: Path) -> None:
    require_tool("cmake", "gcc")
    made = packed(tmp_path, "read", "zephyr")
    config = made.folder / "zephyr" / "sample" / "prj.conf"
    text = config.read_text().replace("_WEIGHTS=y", "_FLASH_MAP=y\nCONFIG_FLASH=y\nCONFIG_FLASH_MAP=y")
    config.write_text(text)
    defined = re.findall(r"^config (\w+)$", (made.folder / "zephyr" / "Kconfig").read_text(), re.MULTILINE)
    assert {"LAMINA_DIGITS_WEIGHTS", "LAMINA_DIGITS_FLASH_MAP"} < set(defined)
    stand_in(tmp_path, "west", "build", "-b", "qemu_cortex_m3", "digits/zephyr/sample")
    flash = tmp_path / "build" / "flash"
    flash.mkdir()
    shutil.copy(made.folder / "weights.bin", flash / "digits_weights.bin")
    said = stand_in(tmp_path, "west", "build", "-t", "run")
    assert RIGHT in said
    assert said.count(GREATEST) == 3


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WAYS)
def test_a_platformio_library_has_them_in_its_image(way: str, tmp_path: Path) -> None:
    require_tool("gcc")
    packed(tmp_path, way, "platformio")
    project = "digits/platformio/digits/examples/selftest"
    assert stand_in(tmp_path, "pio", "run", "-d", project, "-e", "native", "-t", "exec") == f"{RIGHT}\n"


_ARDUINO = """#include <stdio.h>
#define F(text) text
static struct {
    void begin(long) {}
    void print(const char *text) { fputs(text, stdout); }
    void println(const char *text) { puts(text); }
    void println(int number) { printf("%d\\n", number); }
} Serial;
#include "selftest.ino"
int main() { setup(); loop(); return 0; }
"""


@pytest.mark.parametrize("way", WAYS)
def test_an_arduino_library_has_them_in_its_image(way: str, tmp_path: Path) -> None:
    """The sketch as C++ of this machine: the one Arduino core that is here is for AVR, which takes no file."""
    require_tool("gcc", "g++")
    made = packed(tmp_path, way, "arduino")
    library = made.folder / "arduino" / "digits"
    sources = sorted((library / "src").glob("*.c"))
    objects = [build("gcc", ("-O0", "-c"), [s], tmp_path / f"{s.stem}.o") for s in sources]
    main = tmp_path / "main.cpp"
    main.write_text(_ARDUINO)
    includes = [f"-I{library / 'src'}", f"-I{library / 'examples' / 'selftest'}"]
    flags = ("-Wall", "-Wextra", "-Werror")
    program = build("g++", ("-O0",), [main, *objects], tmp_path / "p", includes=includes, warnings=flags)
    assert run(program) == f"{RIGHT}\n"


@pytest.mark.parametrize("way", WAYS)
def test_a_component_of_the_pack_has_them(way: str, tmp_path: Path) -> None:
    require_tool("gcc")
    require_module("lxml")
    from lxml import etree

    made = packed(tmp_path, way, "cmsis-pack")
    schema = etree.XMLSchema(etree.parse(str(shared_dir() / "ecosystems" / "PACK.xsd")))
    assert schema.validate(etree.parse(str(made.folder / "lamina.digits.pdsc"))), schema.error_log
    (archive,) = made.folder.glob("*.pack")
    with zipfile.ZipFile(archive) as content:
        content.extractall(tmp_path / "at")
    root = ElementTree.parse(tmp_path / "at" / "lamina.digits.pdsc").getroot()
    listed = [(f.attrib["category"], tmp_path / "at" / f.attrib["name"]) for f in root.iter("file")]
    assert all(path.exists() for _, path in listed)
    example = tmp_path / "at" / "cmsis" / "selftest"
    said = re.findall(r"component: lamina::(.+)$", (example / "selftest.cproject.yml").read_text(), re.MULTILINE)
    components = [
        ":".join(c.attrib[k] for k in ("Cclass", "Cgroup", "Csub"))
        for c in root.iter("component")
        if "Cversion" in c.attrib
    ]
    assert said == components
    sources = [path for category, path in listed if category == "sourceC"]
    includes = [f"-I{path}" for category, path in listed if category == "include"]
    run(build("gcc", ("-O0",), [*sources, example / "main.c"], tmp_path / "p", includes=includes))


def test_a_crate_takes_weights_that_are_mapped(tmp_path: Path) -> None:
    require_tool("cargo", "gcc")
    made = packed(tmp_path, "mapped", "rust")
    env = {"PATH": "/usr/bin:/bin", "CARGO_NET_OFFLINE": "true", "CC": "gcc", "RUSTFLAGS": "-Dwarnings"}
    done = run_program(["cargo", "test", "--features", "selftest", "--tests"], cwd=made.folder, env=env, timeout_s=240)
    said = (done.stdout + done.stderr).decode("utf-8", errors="replace")
    assert done.returncode == 0, said
    assert "weights_that_do_not_fit_are_refused ... ok" in said
    assert "all_vectors_are_right ... ok" in said


@pytest.mark.parametrize(("package", "way"), [("rust", "read"), ("micropython", "read"), ("micropython", "mapped")])
def test_the_others_are_refused_with_a_way_out(package: str, way: str, tmp_path: Path) -> None:
    with pytest.raises(PackageUnfit, match=f"LAM-EMIT-008 {package}: weights are .*leave "):
        packed(tmp_path, way, package)


def test_a_project_without_such_a_file_has_no_array_of_it() -> None:
    files = compile_file(DIGITS, Options(name="digits", package=("all",), vectors=0)).files
    assert not [path for path in files if "blob" in path.rpartition("/")[2] and "lam_blob" not in path]
