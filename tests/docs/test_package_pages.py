"""docs/packages and examples/firmware: the commands of each page, at most five, run by somebody who has only the wheel.

They run as they are written, one after the other, in a folder where `lamina examples` has put the examples.  Programs
that no Debian package has are stand-ins (tests/stand_ins), which build and run what the real ones would.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.options import PACKAGES
from codegen.process import check_program
from tests import stand_ins
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_tool

DOCS, FIRMWARE = ROOT / "docs" / "packages", ROOT / "examples" / "firmware"
TOOLS = {
    "arduino": ("arduino-builder", "avr-gcc", "simavr"),
    "cmake": ("cmake", "gcc", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "qemu-system-arm", "qemu-system-riscv32"),
    "cmsis-pack": ("gcc", "arm-none-eabi-gcc", "qemu-system-arm"),
    "cpp": ("cmake", "gcc"),
    "esp-idf": ("cmake", "gcc"),
    "micropython": (),
    "platformio": ("gcc",),
    "rust": ("cargo", "gcc"),
    "zephyr": ("cmake", "gcc"),
}
RIGHT = "digits: all vectors right"
GREATEST = r"\ndigits: output 0 is greatest at \d"
SAYS = {
    "arduino": RIGHT,
    "cmake": "100% tests passed",
    "cmsis-pack": "",
    "cpp": "Built target digits_selftest",
    "esp-idf": RIGHT + GREATEST,
    "micropython": "",
    "platformio": RIGHT,
    "rust": "all_vectors_are_right ... ok",
    "zephyr": RIGHT + 3 * GREATEST,
}
"""What the commands of a page of docs/packages print, as patterns."""
SLOWEST = pytest.param("arduino", marks=pytest.mark.slow)
"""Its builder compiles the whole core of a board."""
LANGUAGES = {"cpp", "micropython"}
"""Packages for a language and not for a build system: they have a page, and no firmware of their own."""
HEARD = ["up", "down", "hold"]
READ = ["self-test: all vectors right", "this is a 3", "this is a 7", "this is a 0"]
PHOTOS = 6


def commands(page: Path) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture
def folder(programs: Path, tmp_path: Path) -> Path:
    """A folder with the examples, and the environment to work in it."""
    place = tmp_path / "work"
    place.mkdir()
    stand_ins.written(tmp_path / "bin")
    check_program([programs / "lamina", "examples", "-q"], cwd=place, env=environment(programs, tmp_path), timeout_s=60)
    return place


def environment(programs: Path, home: Path) -> dict[str, str]:
    left_out = ("PYTHONPATH", "PYTHONHOME", "CMAKE_GENERATOR", "RUSTFLAGS")
    env = {k: v for k, v in os.environ.items() if k not in left_out}
    path = os.pathsep.join([str(home / "bin"), str(programs), env["PATH"]])
    return {**env, "PATH": path, "CARGO_NET_OFFLINE": "true", "CC": "gcc", "LC_ALL": "C", "NO_COLOR": "1"}


def said(lines: list[str], folder: Path, programs: Path) -> list[str]:
    """What these commands print, each of which has to work."""
    env = environment(programs, folder.parent)
    out = ""
    for line in lines:
        done = check_program(["bash", "-o", "pipefail", "-c", line], cwd=folder, env=env, timeout_s=200)
        out += done.stdout.decode("utf-8", errors="replace")
    return out.splitlines()


def test_every_package_has_a_page_and_an_example() -> None:
    assert [page.stem for page in sorted(DOCS.glob("*.md"))] == list(PACKAGES)
    pages = {page.parent.name for page in FIRMWARE.glob("*/README.md")}
    assert pages == {*PACKAGES, "whistle"} - LANGUAGES
    text = (FIRMWARE / "README.md").read_text()
    assert all(f"({name}/README.md)" in text for name in set(PACKAGES) - LANGUAGES)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("package", [SLOWEST if p == "arduino" else p for p in PACKAGES])
def test_the_commands_of_a_package_s_page_run(package: str, folder: Path, programs: Path) -> None:
    require_tool(*TOOLS[package])
    lines = commands(DOCS / f"{package}.md")
    assert 1 <= len(lines) <= 5
    assert lines[0].startswith("lamina compile examples/")
    assert re.search(SAYS[package], "\n".join(said(lines, folder, programs)))
    if package == "cmake":
        assert (folder / "installed" / "lib" / "cmake" / "digits" / "digitsConfig.cmake").is_file()
    if package == "cmsis-pack":
        assert said(["digits/cmsis/selftest/out/selftest/chip/release/selftest.elf"], folder, programs) == []


def example(name: str, folder: Path, programs: Path) -> list[str]:
    """What an example's own page prints."""
    require_tool(*TOOLS[name])
    lines = commands(FIRMWARE / name / "README.md")
    assert 1 <= len(lines) <= 5
    assert lines[0].startswith("lamina compile ")
    return said(lines, folder, programs)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["arduino", "rust", "zephyr"])
def test_whistled_commands_are_heard_once_each(name: str, folder: Path, programs: Path) -> None:
    lines = [re.sub(r"\x1b\[\d+m|\.\.$", "", line) for line in example(name, folder, programs)]
    words = [line for line in lines if line in {*HEARD, "none", "failed", "end"}]
    assert words == (HEARD if name == "rust" else [*HEARD, "end"])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["cmake", "cmsis-pack"])
def test_drawn_digits_are_read_on_bare_metal(name: str, folder: Path, programs: Path) -> None:
    lines = example(name, folder, programs)
    assert [line for line in lines if line in READ] == READ


def test_the_other_board_reads_them_too(folder: Path, programs: Path) -> None:
    require_tool(*TOOLS["cmake"])
    lines = commands(FIRMWARE / "cmake" / "README.md")
    lines[0] = lines[0].replace("cortex-m4", "rv32imc")
    lines[1] += " -DBOARD=virt_rv32"
    assert [line for line in said(lines, folder, programs) if line in READ] == READ


def photos(folder: Path) -> np.ndarray:
    """u8[PHOTOS, 96, 96, 3] from real data, with the model where the pages say that it is."""
    model = shared_dir() / "models" / "mlperf_tiny" / "vww_int8.tflite"
    (folder / "vww_96_int8.tflite").write_bytes(model.read_bytes())
    x = np.load(shared_dir() / "data" / "coco_person96.npz")["x"][:PHOTOS]
    assert x.shape == (PHOTOS, 96, 96, 3)
    return np.asarray(x)


def judged(x: np.ndarray, folder: Path) -> list[str]:
    """What the detector has to say of the photos: the golden model's scores."""
    q = (x.astype(np.int16) - 128).astype(np.int8)
    y = np.asarray(codegen.run(folder / "vww_96_int8.tflite", q, engine="golden"))
    scores = (y.reshape(len(x), 2)[:, 1].astype(np.float32) + 128) / 256
    return [f"{'person' if score > 0.5 else 'nobody'} ({score:.2f})" for score in scores]


@pytest.mark.slow
def test_persons_are_told_by_the_lines_of_photos(folder: Path, programs: Path) -> None:
    x = photos(folder)
    expected = judged(x, folder)
    assert len({line.split()[0] for line in expected}) == 2
    ppm = b"P6\n96 96\n255\n"
    (folder / "photo.ppm").write_bytes(ppm + x[0].tobytes())
    assert example("platformio", folder, programs)[-1] == expected[0]
    last = commands(FIRMWARE / "platformio" / "README.md")[-1]
    for photo, answer in zip(x[1:], expected[1:], strict=True):
        (folder / "photo.ppm").write_bytes(ppm + photo.tobytes())
        assert said([last], folder, programs) == [answer]
    for wrong in (b"", b"P6\n96 95\n255\n" + x[0].tobytes(), ppm + x[0].tobytes()[:-1]):
        (folder / "photo.ppm").write_bytes(wrong)
        assert "exit 2" in said([f"{last} || echo exit $?"], folder, programs)


def test_persons_are_told_by_a_camera(folder: Path, programs: Path) -> None:
    x = photos(folder).astype(np.uint16)
    bits = np.stack([x[..., 0] >> 3, x[..., 1] >> 2, x[..., 2] >> 3], axis=-1)
    (folder / "camera.rgb565").write_bytes((bits @ np.array([2048, 32, 1], np.uint16)).astype(">u2").tobytes())
    red, green, blue = (bits[..., c] for c in range(3))
    seen = np.stack([red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2], axis=-1).astype(np.uint8)
    lines = example("esp-idf", folder, programs)
    assert lines[-PHOTOS:] == judged(seen, folder)
