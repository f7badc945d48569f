"""The C on emulated chips equals the golden model in every tensor: two byte orders, four instruction sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.api import inspect, verify
from codegen.emit import write_project
from codegen.emulator import build_and_run
from codegen.errors import ArenaTooSmall
from codegen.ir.quant import MODES
from codegen.pipeline import Options, compile_file
from codegen.process import check_program
from codegen.target import find_chip, load_target
from tests.contract.case import STORAGES
from tests.e2e.projects import DIGITS, check_sources, expected_lines, project, random_feeds
from tests.e2e.test_real_models import samples_of
from tests.support.real import MODELS, model_path
from tests.support.shared import shared_dir
from tests.support.tools import require_board

CHIPS = ("cortex-m4", "cortex-m0plus", "rv32imc", "ppc32")
TINY = ("kws_qdq", "resnet8_qdq", "vww_qdq")
OFFERED = [(chip, mode) for chip in CHIPS for mode in MODES if mode in load_target(chip).requant_modes]
TOO_LARGE = {
    ("cortex-m0plus", "yunet_n_320_qdq"),
    ("cortex-m0plus", "fastestdet_352_qdq"),
}
"""Models whose smallest arena exceeds the chip's RAM."""


def check(name: str, chip: str, mode: str, real: int, random: int) -> None:
    samples = samples_of(name, real, random)
    result = verify(model_path(name), target=chip, requant=mode, inputs=samples, samples=len(samples))
    assert result.equal, result.first_difference and result.first_difference.text()
    assert (result.target, result.requant, result.samples) == (load_target(chip).name, mode, len(samples))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", TINY)
def test_every_tensor_is_equal_on_the_chip(name: str, chip: str) -> None:
    require_board(chip)
    check(name, chip, "single", real=2, random=1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["kws_qdq_sym", "resnet8_qdq"])
def test_helium_is_equal_on_the_chip(name: str) -> None:
    require_board("cortex-m55")
    check(name, "cortex-m55", "single", real=1, random=1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["kws", "vww"])
def test_outputs_by_one_product_and_one_sum_are_equal_on_the_chip(name: str) -> None:
    """The shift and the saturation are assembly, which this machine does not run."""
    require_board("cortex-m3")
    model = shared_dir() / "models" / "mlperf_tiny" / f"{name}_int8.tflite"
    assert any("one product and one sum" in layer.form for layer in inspect(model, "cortex-m3").layers)
    result = verify(model, target="cortex-m3", samples=2)
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("asked", [{"float_sums": "fused"}, *({"float_weights": s} for s in STORAGES)])
def test_real_numbers_are_equal_on_the_chip(asked: dict[str, str]) -> None:
    """The chip's fused multiply-add, its conversion of float16, and its FPU's registers."""
    require_board("cortex-m4")
    result = verify(shared_dir() / "models" / "onnx" / "mnist_cnn_f32.onnx", target="cortex-m4", samples=2, **asked)  # type: ignore[arg-type]
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("level", ["-O0", "-Og", "-O2"])
@pytest.mark.parametrize("chip", ["cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("name", ["kws_qdq", "kws_qdq_sym"])
def test_assembly_suits_every_level_of_the_compiler(name: str, chip: str, level: str, tmp_path: Path) -> None:
    """Operands that only some registers can hold, in branches too that other levels drop."""
    toolchain = require_board(chip).toolchain
    assert toolchain
    made = compile_file(model_path(name), Options(target=chip, vectors=0))
    write_project(tmp_path / "net", made.files)
    folders = [f"-I{tmp_path / 'net' / folder}" for folder in ("include", "runtime", "src")]
    layers = tmp_path / "net" / "src" / f"{name}_layers.c"
    argv = [
        toolchain.cc,
        *toolchain.cflags,
        "-std=c99",
        level,
        *folders,
        "-c",
        str(layers),
        "-o",
        str(tmp_path / "o.o"),
    ]
    check_program(argv, timeout_s=120)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("chip", "mode"), [pair for pair in OFFERED if pair[1] != "single"])
def test_every_mode_of_the_chip_is_equal(chip: str, mode: str) -> None:
    require_board(chip)
    check("kws_qdq", chip, mode, real=1, random=1)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("network", ["digits", "pulled"])
def test_a_weight_blob_is_read_in_place_on_the_chip(network: str, chip: str, tmp_path: Path) -> None:
    """In the chip's byte order, and unaligned words would fault."""
    target = require_board(chip)
    made = project(tmp_path, network, target=chip, weights="blob")
    feeds = random_feeds(made.compiled, 2)
    sources, macros = check_sources(made, feeds, tmp_path)
    pairs = [macro.removeprefix("-D").partition("=") for macro in macros]
    defines = {name: value or None for name, _, value in pairs}
    includes = [made.folder / part for part in ("include", "runtime", "src")]
    result = build_and_run(target, sources, includes, defines, timeout_s=120, workdir=tmp_path / "build")
    assert result.exit_code == 0
    assert result.console.decode("ascii").replace("\r", "") == expected_lines(made.compiled, feeds)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("chip", CHIPS)
def test_verify_takes_a_weight_blob_on_the_chip(chip: str) -> None:
    require_board(chip)
    assert verify(DIGITS, target=chip, weights="blob", samples=2).equal


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chip", CHIPS)
def test_the_self_test_passes_on_the_chip(chip: str, tmp_path: Path) -> None:
    target = require_board(chip)
    made = project(tmp_path, "digits", target=chip)
    main = tmp_path / "main.c"
    main.write_text("int digits_qdq_selftest(void);\nint main(void)\n{\n    return digits_qdq_selftest();\n}\n")
    sources = [*made.sources, made.folder / "test" / "selftest.c", main]
    includes = [made.folder / part for part in ("include", "runtime", "src")]
    assert build_and_run(target, sources, includes, {}, timeout_s=120, workdir=tmp_path / "build").exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize(("chip", "mode"), OFFERED)
@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_equal_in_every_mode_or_too_large(name: str, chip: str, mode: str) -> None:
    require_board(chip)
    if (chip, name) in TOO_LARGE:
        with pytest.raises(ArenaTooSmall):
            compile_file(model_path(name), Options(target=chip, requant=mode))
    else:
        check(name, chip, mode, real=2, random=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["yunet_n_320_qdq", "fastestdet_352_qdq"])
def test_large_models_are_equal_on_a_chip_with_more_memory(name: str, tmp_path: Path) -> None:
    """The emulated board has more memory than the chip that the target describes."""
    require_board("cortex-m4")
    text = find_chip("cortex-m4").read_text()
    larger = tmp_path / "large-m4.toml"
    text = text.replace('name = "cortex-m4"', 'name = "large-m4"')
    larger.write_text(text.replace("bytes = 655360", "bytes = 2097152"))
    check(name, str(larger), "single", real=1, random=1)
