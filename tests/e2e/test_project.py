"""Every file of a generated project, as a firmware team would treat it: compilers, sanitizers, linkers, checkers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from codegen.emit import network_name
from codegen.host import WARNINGS
from codegen.pipeline import Options, compile_graph
from codegen.process import check_program, find_program, run_program
from codegen.resources import ABI
from codegen.target import load_target
from tests.e2e.analysis import cppcheck
from tests.e2e.projects import (
    NETWORKS,
    SANITIZE,
    Project,
    build,
    check_sources,
    expected_lines,
    pair,
    project,
    random_feeds,
    require_build,
    run,
    written,
)
from tests.support.tools import require_tool

COMPILERS = ("gcc", "clang")
BITS = ("-m64", "-m32")
LEVELS = ("-O0", "-Os", "-O3")
ONLY_CALLS = {"memcpy", "memset", "memmove"}
_ARITHMETIC = r"__aeabi_\w+|__gnu_thumb1_case_\w+|__[a-z]+[sd]i\d?"
HELPERS = re.compile(rf"({_ARITHMETIC}|__riscv_(save|restore)_\d+|_(save|rest)gpr_\d+(_x)?)$")
"""What a compiler calls instead of instructions that the chip lacks, or of long entry code."""
STACK_LIMITS = {"-O0": 1024}
"""Bytes a function may use: 384, but for builds that keep each of a kernel's sums in memory of its own."""


def self_test(made: Project) -> list[Path]:
    return [*made.sources, made.folder / "test" / "selftest.c", made.folder / "test" / "main.c"]


def blob_argument(made: Project) -> list[str]:
    return [] if made.blob is None else [str(made.folder / "weights.bin")]


@pytest.mark.one_in(16)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_file_compiles_without_a_word_and_the_self_test_passes(
    network: str, compiler: str, bits: str, tmp_path: Path
) -> None:
    require_build(compiler, (bits,), tmp_path)
    made = project(tmp_path, network)
    for level in LEVELS:
        program = build(compiler, (bits, level), self_test(made), tmp_path / "selftest", includes=made.includes)
        assert run(program) == f"{made.name}: all vectors right\n"


def _sanitized() -> Iterator[ParameterSet]:
    """Quick tests take one kind of weights with each compiler, and both for one network."""
    for network in NETWORKS:
        for compiler, bits in (("gcc", "-m64"), ("clang", "-m64"), ("gcc", "-m32")):
            for weights in ("c", "blob"):
                quick = (weights == "blob") == (compiler == "clang") or (network == "residual" and bits == "-m64")
                yield pytest.param(network, compiler, bits, weights, marks=() if quick else pytest.mark.slow)


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("network", "compiler", "bits", "weights"), list(_sanitized()))
def test_sanitizers_are_silent_and_every_tensor_is_right(
    network: str, compiler: str, bits: str, weights: str, tmp_path: Path
) -> None:
    flags = (bits, "-O0", *SANITIZE)
    require_build(compiler, flags, tmp_path)
    made = project(tmp_path, network, weights=weights)
    program = build(compiler, flags, self_test(made), tmp_path / "selftest", includes=made.includes)
    assert run(program, *blob_argument(made)) == f"{made.name}: all vectors right\n"
    feeds = random_feeds(made.compiled, 2)
    sources, defines = check_sources(made, feeds, tmp_path)
    flags = (*flags, "-DLAM_CHECK_STDIO", *defines)
    checker = build(compiler, flags, sources, tmp_path / "check", includes=made.includes)
    assert run(checker) == expected_lines(made.compiled, feeds)


@pytest.mark.one_in(36)
@pytest.mark.parametrize(
    "flags", ["-m64 -O3 -mfma -ffp-contract=fast", "-m32 -O3 -mno-sse -ffp-contract=fast", "-m64 -O0"]
)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("network", NETWORKS)
def test_float_requantization_survives_fused_and_wide_arithmetic(
    network: str, compiler: str, flags: str, tmp_path: Path
) -> None:
    language = ("-std=gnu11", *flags.split())
    require_build(compiler, language, tmp_path)
    made = project(tmp_path, network, requant="ort")
    feeds = random_feeds(made.compiled, 2)
    sources, defines = check_sources(made, feeds, tmp_path)
    given = (*language, "-DLAM_CHECK_STDIO", *defines)
    checker = build(compiler, given, sources, tmp_path / "check", includes=made.includes, warnings=WARNINGS[1:])
    assert run(checker) == expected_lines(made.compiled, feeds)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("requant", ["single", "tflite"])
@pytest.mark.parametrize("network", [n for n in NETWORKS if n != "digits_as_trained"])
def test_an_integer_network_needs_no_floating_point_unit(network: str, requant: str, tmp_path: Path) -> None:
    require_build("gcc", ("-mgeneral-regs-only",), tmp_path)
    made = project(tmp_path, network, requant=requant, target="generic")
    for source in made.sources:
        build("gcc", ("-O2", "-c", "-mgeneral-regs-only"), [source], tmp_path / "x.o", includes=made.includes)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("weights", ["c", "blob"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_header_is_cpp_too(compiler: str, weights: str, tmp_path: Path) -> None:
    if find_program(compiler) is None:
        pytest.skip(f"no {compiler}")
    made = project(tmp_path, "conv_chain", weights=weights)
    objects = [build("gcc", ("-c", "-O1"), [s], tmp_path / f"{s.stem}.o", includes=made.includes) for s in made.sources]
    arguments = "arena" if weights == "c" else "arena, weights, sizeof(weights)"
    weights_array = "static uint8_t weights[CONV_CHAIN_WEIGHTS_SIZE] LAM_ALIGNED(16);" if weights == "blob" else ""
    main = tmp_path / "main.cpp"
    main.write_text(f"""
#include "conv_chain.h"
#include "conv_chain.h"
static uint8_t arena[CONV_CHAIN_ARENA_SIZE] CONV_CHAIN_ARENA_ALIGNED;
{weights_array}
static const int32_t shape[CONV_CHAIN_INPUT0_DIMS] = CONV_CHAIN_INPUT0_SHAPE;
int main()
{{
    conv_chain_t net;
    conv_chain_memory memory = CONV_CHAIN_MEMORY({arguments});
    lam_status status = conv_chain_init(&net, &memory);
    if (status == LAM_OK) {{
        CONV_CHAIN_INPUT0_TYPE *x = conv_chain_input(&net, 0);
        x[0] = shape[3] == 3 ? 1 : 0;
        status = conv_chain_run(&net);
        return conv_chain_output(&net, 0) != nullptr && CONV_CHAIN_INPUT0_SCALE > 0 ? status : 1;
    }}
    return status == LAM_ERROR_WEIGHTS_MAGIC ? 0 : 2;
}}
""")
    flags = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wcast-align", "-Wundef", "-Werror")
    program = build(compiler, ("-std=c++11",), [main, *objects], tmp_path / "m", includes=made.includes, warnings=flags)
    run(program)


def undefined_symbols(nm: str, objects: Sequence[Path]) -> set[str]:
    """What the objects, taken together, need from elsewhere."""
    kinds: dict[str, set[str]] = {}
    for path in objects:
        for line in check_program([nm, str(path)], timeout_s=60).stdout.decode("ascii").splitlines():
            *_, kind, name = line.split()
            kinds.setdefault(name, set()).add(kind)
    return {name for name, found in kinds.items() if found == {"U"}}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("weights", ["c", "blob"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("compiler", "bits"), [("gcc", "-m64"), ("gcc", "-m32"), ("clang", "-m64"), ("clang", "-m32")])
def test_a_freestanding_image_needs_three_functions_and_nothing_else(
    compiler: str, bits: str, level: str, weights: str, tmp_path: Path
) -> None:
    require_build(compiler, (bits,), tmp_path)
    require_tool("nm")
    made = project(tmp_path, "digits" if weights == "c" else "pulled", weights=weights)
    flags = (bits, level, "-fno-pic", "-ffreestanding", "-DLAM_FREESTANDING", "-c")
    sources = [*made.sources, made.folder / "test" / "selftest.c"]
    objects = [build(compiler, flags, [s], tmp_path / f"{s.stem}.o", includes=made.includes) for s in sources]
    needed = undefined_symbols("nm", objects)
    needed -= {f"{made.name}_selftest_weights"} if weights == "blob" else set()
    assert {n for n in needed if not HELPERS.match(n)} <= ONLY_CALLS


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chip", ["cortex-m0plus", "cortex-m4", "rv32imc", "ppc32"])
def test_an_image_for_a_chip_needs_three_functions_and_nothing_else(chip: str, tmp_path: Path) -> None:
    target = load_target(chip)
    assert target.toolchain is not None
    nm = target.toolchain.cc.replace("gcc", "nm")
    require_tool(target.toolchain.cc, nm)
    made = project(tmp_path, "digits", target=chip)
    flags = (*target.toolchain.cflags, "-Os", "-ffreestanding", "-DLAM_FREESTANDING", "-c")
    cc = target.toolchain.cc
    objects = [build(cc, flags, [s], tmp_path / f"{s.stem}.o", includes=made.includes) for s in made.sources]
    needed = undefined_symbols(nm, objects)
    assert {n for n in needed if not HELPERS.match(n)} <= ONLY_CALLS


@pytest.mark.one_in(3)
@pytest.mark.parametrize("weights", ["c", "blob"])
@pytest.mark.parametrize("network", NETWORKS)
def test_cppcheck_has_nothing_to_say(network: str, weights: str, tmp_path: Path) -> None:
    require_tool("cppcheck")
    assert cppcheck(project(tmp_path, network, weights=weights)) == ""


HELIUM = ("-D__ARM_FEATURE_MVE=3", "-D__ARMEL__=1", "--suppress=constParameter")
"""The assembly; what that writes through a pointer, cppcheck does not see."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("chip", "more"),
    [("cortex-m55", ()), ("cortex-m55", HELIUM), ("cortex-m4", ()), ("cortex-m3", ()), ("cortex-m0plus", ())],
    ids=["helium-twins", "helium", "cortex-m4", "cortex-m3", "cortex-m0plus"],
)
@pytest.mark.parametrize("network", ["digits", "residual"])
def test_cppcheck_has_nothing_to_say_of_kernels_for_chips(
    network: str, chip: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    require_tool("cppcheck")
    assert cppcheck(project(tmp_path, network, target=chip), *more) == ""


@pytest.mark.one_in(12)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("requant", ["single", "ort"])
@pytest.mark.parametrize("network", NETWORKS)
def test_every_stack_frame_is_small_and_of_a_known_size(network: str, requant: str, level: str, tmp_path: Path) -> None:
    require_tool("gcc")
    made = project(tmp_path, network, requant=requant, target="generic")
    for source in made.sources:
        flags = (level, "-c", "-fstack-usage")
        build("gcc", flags, [source], tmp_path / f"{source.stem}.o", includes=made.includes)
        usage = (tmp_path / f"{source.stem}.su").read_text(encoding="ascii")
        for line in usage.splitlines():
            function, size, kind = line.split("\t")
            assert kind == "static", line
            assert int(size) <= STACK_LIMITS.get(level, 384), f"{function}: {size} bytes of stack"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("weights", ["c", "blob"])
def test_cmake_builds_it_and_ctest_runs_the_self_test(weights: str, tmp_path: Path) -> None:
    require_tool("cmake", "ctest", "make")
    made = project(tmp_path, "conv_chain", weights=weights)
    folder = tmp_path / "build"
    check_program(["cmake", "-G", "Unix Makefiles", "-S", str(made.folder), "-B", str(folder)], timeout_s=120)
    check_program(["cmake", "--build", str(folder)], timeout_s=120)
    done = check_program(["ctest", "--test-dir", str(folder), "--output-on-failure"], timeout_s=120)
    assert b"100% tests passed, 0 tests failed out of 1" in done.stdout


def test_cmake_adds_it_to_a_firmware_as_a_library(tmp_path: Path) -> None:
    require_tool("cmake", "make")
    project(tmp_path, "conv_chain")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(app C)\nadd_subdirectory(conv_chain)\n"
        "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE lamina_conv_chain)\n"
    )
    (tmp_path / "main.c").write_text(
        '#include "conv_chain.h"\nint main(void)\n{\n    return conv_chain_init(NULL, NULL) != LAM_ERROR_NULL;\n}\n'
    )
    folder = tmp_path / "build"
    check_program(["cmake", "-G", "Unix Makefiles", "-S", str(tmp_path), "-B", str(folder)], timeout_s=120)
    check_program(["cmake", "--build", str(folder)], timeout_s=120)
    run(folder / "app")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["size", "string", "time", "int8", "base", "float", "math", "inline", "a_layers"])
def test_no_network_name_meets_a_name_of_c_or_of_the_runtime(name: str, tmp_path: Path) -> None:
    require_tool("gcc")
    graph = pair(network_name(name))
    made = written(tmp_path / name, compile_graph(graph, load_target("host"), Options()))
    program = build("gcc", ("-O1", "-D_GNU_SOURCE"), self_test(made), tmp_path / "selftest", includes=made.includes)
    assert "all vectors right" in run(program)


def test_the_self_test_borrows_an_arena(tmp_path: Path) -> None:
    require_tool("gcc")
    made = project(tmp_path, "pulled")
    main = tmp_path / "main.c"
    main.write_text(
        '#include "pulled.h"\nint pulled_selftest(void);\nextern uint8_t lent[];\n'
        "uint8_t lent[PULLED_ARENA_SIZE + 64] PULLED_ARENA_ALIGNED;\n"
        "int main(void)\n{\n    return pulled_selftest();\n}\n"
    )
    sources = [*made.sources, made.folder / "test" / "selftest.c", main]
    flags = ("-O1", "-DPULLED_SELFTEST_ARENA=lent")
    run(build("gcc", flags, sources, tmp_path / "selftest", includes=made.includes))


def test_runtime_headers_of_another_version_do_not_compile(tmp_path: Path) -> None:
    require_tool("gcc")
    made = project(tmp_path, "pulled")
    header = made.folder / "runtime" / "lam_base.h"
    text = header.read_text(encoding="utf-8")
    header.write_text(
        text.replace(f"LAM_ABI != {ABI}", "LAM_ABI != 0").replace(f"#define LAM_ABI {ABI}", "#define LAM_ABI 0")
    )
    argv = ["gcc", "-c", *made.includes, str(made.folder / "src" / "pulled.c"), "-o", str(tmp_path / "x.o")]
    done = run_program(argv, timeout_s=60)
    assert done.returncode != 0
    assert b"come from different versions of lamina" in done.stderr


def test_a_project_holds_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    made = project(tmp_path, "pulled", weights="blob")
    files = {str(p.relative_to(made.folder)) for p in made.folder.rglob("*") if p.is_file()}
    headers = {f for f in files if f.startswith("runtime/")}
    assert files - headers == {
        "CMakeLists.txt",
        "MISRA.md",
        "README.md",
        "include/pulled.h",
        "include/pulled_helpers.h",
        "manifest.json",
        "src/pulled.c",
        "src/pulled_info.c",
        "src/pulled_layers.c",
        "src/pulled_layers.h",
        "src/pulled_weights.c",
        "test/main.c",
        "test/selftest.c",
        "weights.bin",
    }
    texts = [(made.folder / f).read_text() for f in files if f.endswith((".c", ".h"))]
    included = {header for text in texts for header in re.findall(r'"(lam_\w+\.h)"', text)}
    assert headers == {f"runtime/{h}" for h in included}
