"""What `compile` says of the size of code, beside what compilers make of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import codegen
from codegen.process import check_program
from codegen.report.code_size import EACH, FORMS, ONCE
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support.networks import network_path
from tests.support.shared import shared_dir
from tests.support.tools import require_tool

NETWORKS = ("ad", "kws", "resnet8", "vww")
TOLERANCE = 0.25
OF_DEEP = 0.1


def built_bytes(project: codegen.Project, chip: str, out: Path) -> int:
    """Text, tables among it, of the schedule and the layers at -Os."""
    tools = load_target(chip).toolchain
    assert tools is not None
    require_tool(tools.cc, tools.size)
    name = project.manifest["name"]
    includes = [f"-I{project.path / folder}" for folder in ("include", "runtime", "src")]
    found = 0
    for part in (name, f"{name}_layers"):
        source, made = project.path / "src" / f"{part}.c", out / f"{part}.o"
        check_program([tools.cc, *tools.cflags, "-std=c99", "-Os", *includes, "-c", source, "-o", made], timeout_s=120)
        said = check_program([tools.size, made], timeout_s=60).stdout.decode("ascii").splitlines()[-1]
        found += int(said.split()[0])
    return found


@pytest.mark.parametrize(
    "chip",
    [
        "cortex-m4",
        *(pytest.param(c, marks=pytest.mark.slow) for c in ("cortex-m0plus", "cortex-m3", "cortex-m55", "rv32imc")),
    ],
)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_estimate_is_met_within_a_quarter(network: str, chip: str, tmp_path: Path) -> None:
    model = shared_dir() / "models" / "mlperf_tiny" / f"{network}_int8.tflite"
    project = codegen.compile_model(model, chip, tmp_path / "project")
    assert project.code_estimate_bytes == pytest.approx(built_bytes(project, chip, tmp_path), rel=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["cortex-m0plus", "cortex-m3", "cortex-m4", "rv32imc"])
def test_a_deep_network_is_met_within_a_tenth(chip: str, tmp_path: Path) -> None:
    project = codegen.compile_model(network_path("mcunet_vww_80"), chip, tmp_path / "project")
    assert project.code_estimate_bytes == pytest.approx(built_bytes(project, chip, tmp_path), rel=OF_DEEP)


def test_every_primitive_of_the_table_exists() -> None:
    runtime = resource_dir("runtime_c")
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(runtime.rglob("*.h")))
    assert [name for name in (*ONCE, *FORMS, *EACH) if f"{name}(" not in text] == []
