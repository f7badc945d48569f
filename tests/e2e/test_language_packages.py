"""The C++ header by gcc and clang as C++17 and C++20; the MicroPython module against a stand-in of its headers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.errors import PackageUnfit
from codegen.host import WARNINGS
from codegen.pipeline import Options, compile_file
from codegen.process import check_program
from tests.e2e.projects import SANITIZE, TINY, Project, build, run, written
from tests.support.shared import ROOT
from tests.support.tools import require_tool

CPP = (
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Wcast-align",
    "-Wundef",
    "-Wold-style-cast",
    "-Werror",
)
STAND_IN = ROOT / "tests" / "support" / "micropython"
FORMS = {
    "plain": Options(name="net", package=("cpp",)),
    "blob": Options(name="net", package=("cpp",), weights="blob"),
    "read": Options(name="net", package=("cpp",), weights_buffer=2048),
    "floats": Options(name="net", package=("cpp",), io_type="model", io_layout="model"),
    "streamed": Options(name="net", package=("cpp",), stream_input=True),
    "scratchpad": Options(name="net", package=("cpp",), target="gap8-like"),
    "cores": Options(name="net", package=("cpp",), target="gap8-cores"),
}


_UNFIT = {
    "cpp": ("span", "Span", "input0", "output12"),
    "esp-idf": ("d", "D"),
    "rust": ("self", "crate", "fn", "yield", "arena", "status", "result", "phantom data", "output0", "test"),
}
"""Names that are words of the language, or of the files written for it."""


def made(folder: Path, options: Options) -> Project:
    return written(folder / "net", compile_file(TINY, options))


_MAIN = """
#include "net.hpp"
#include "net.hpp"
#include <algorithm>
#include <cstdio>
#include <type_traits>
#include <vector>
{hooks}

alignas(NET_ARENA_ALIGN) static std::uint8_t arena[NET_ARENA_SIZE];
static std::vector<{input_t}> x(64, 3);

static_assert(!std::is_copy_constructible<lamina::Net>::value, "two would share an arena");
static_assert(lamina::Net::output0_size == 4, "of the header");

int main()
{{
    static lamina::Net net;
    if (!net.output0().empty() || {before}) {{
        return 2;
    }}
    {init}
    if (net.init({given}) != LAM_OK) {{
        return 3;
    }}
    {work}
    for (const auto value : net.output0()) {{
        std::printf("%d ", static_cast<int>(value));
    }}
    std::printf("%d", static_cast<int>(net.output0().size()));
    return 0;
}}
"""
_C = """
#include "net.h"
#include <stdio.h>
static uint8_t arena[NET_ARENA_SIZE] NET_ARENA_ALIGNED;
int main(void)
{
    net_t net;
    const net_memory memory = NET_MEMORY(arena);
    if (net_init(&net, &memory) != LAM_OK) { return 1; }
    memset(net_input(&net, 0), 3, NET_INPUT0_BYTES);
    if (net_run(&net) != LAM_OK) { return 2; }
    const int8_t *y = net_output(&net, 0);
    printf("%d %d %d %d 4", y[0], y[1], y[2], y[3]);
    return 0;
}
"""
_RUN = "std::copy(x.begin(), x.end(), net.input0().begin()); if (net.run() != LAM_OK) { return 4; }"
_PUSH = """std::size_t row = 0;
    if (net.push_row(lamina::Span<const std::int8_t>(x.data(), 3)) != LAM_ERROR_NULL) { return 5; }
    while (net.push_row(x.data() + row) == LAM_NEED_MORE) { row += lamina::Net::row_size; }"""
_BLOB = """alignas(16) static std::uint8_t weights[NET_WEIGHTS_SIZE];
    if (std::fread(weights, 1, sizeof(weights), std::fopen("weights.bin", "rb")) != sizeof(weights)) { return 7; }
    if (net.check_weights(weights) != LAM_OK || net.init(arena, NET_ARENA_SIZE, weights, 3) == LAM_OK) { return 6; }"""
_HOOKS = """
extern "C" std::int32_t net_read_weights(void *context, std::uint32_t offset, void *to, std::uint32_t bytes)
{
    std::FILE *file = static_cast<std::FILE *>(context);
    const bool moved = std::fseek(file, static_cast<long>(offset), SEEK_SET) == 0;
    return moved && std::fread(to, 1, bytes, file) == bytes ? 0 : -1;
}

extern "C" int net_wait_weights(void *, std::int32_t)
{
    return 0;
}
"""
_READ = """std::FILE *file = std::fopen("weights.bin", "rb");
    std::FILE *other = std::fopen("net.txt", "wb+");
    alignas(16) static std::uint8_t buffer[256];
    if (net.check_weights(file, buffer) != LAM_OK || net.check_weights(other, buffer) != LAM_ERROR_WEIGHTS_READ
        || net.init(arena, other) == LAM_OK || net.init(arena, NET_ARENA_SIZE, file) != LAM_OK) { return 6; }"""
_PAD = """alignas(NET_SCRATCHPAD_ALIGN) static std::uint8_t pad[NET_SCRATCHPAD_SIZE];
    const lamina::Net::Memory memory = NET_MEMORY(arena, pad);"""
_PADS = _PAD.replace("pad[NET", "pad[NET_CORES][NET")
_HOW = {
    "plain": ("", "arena", _RUN),
    "blob": (_BLOB, "arena, weights", _RUN),
    "read": (_READ, "arena, file", _RUN),
    "floats": ("", "arena, sizeof(arena)", _RUN),
    "streamed": ("", "arena", _PUSH),
    "scratchpad": (_PAD, "memory", _RUN),
    "cores": (_PADS, "memory", _RUN),
}


def _builds() -> list[tuple[str, str, str]]:
    """The plain form by both compilers as both, the others by each in turn, each as another C++."""
    ways = (("g++", "17"), ("clang++", "20"))
    found = [(form, *ways[k % 2]) for k, form in enumerate(FORMS)]
    return [*found, ("plain", "clang++", "20"), ("plain", "g++", "20"), ("plain", "clang++", "17")]


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the C prints."""
    require_tool("gcc")
    folder = tmp_path_factory.mktemp("c")
    plain = made(folder, Options(name="net"))
    source = folder / "main.c"
    source.write_text(_C)
    return run(build("gcc", ("-O0",), [source, *plain.sources], folder / "c.out", includes=plain.includes))


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("form", "compiler", "standard"), _builds())
def test_the_cpp_class_gives_what_c_gives(form: str, compiler: str, standard: str, in_c: str, tmp_path: Path) -> None:
    c_compiler = "gcc" if compiler == "g++" else "clang"
    require_tool(compiler, c_compiler)
    net = made(tmp_path, FORMS[form])
    flags = ("-O0", *SANITIZE, "-DLAM_DMA_SYNC")
    objects = [
        build(c_compiler, ("-c", *flags), [s], tmp_path / f"{s.stem}.o", includes=net.includes) for s in net.sources
    ]
    init, given, work = _HOW[form]
    before = "net.next_row().size() != 0" if form == "streamed" else "!net.input0().empty()"
    input_t = "float" if form == "floats" else "std::int8_t"
    main = tmp_path / "main.cpp"
    hooks = _HOOKS if form == "read" else ""
    main.write_text(_MAIN.format(before=before, hooks=hooks, init=init, given=given, work=work, input_t=input_t))
    includes = [*net.includes, f"-I{net.folder / 'cpp'}"]
    program = build(
        compiler,
        (f"-std=c++{standard}", *flags),
        [main, *objects],
        tmp_path / "cpp.out",
        includes=includes,
        warnings=CPP,
    )
    if form in ("blob", "read"):
        (tmp_path / "main.sh").write_text(f"cd {net.folder} && exec {program}\n")
        require_tool("sh")
        found = run(Path("/bin/sh"), str(tmp_path / "main.sh"))
    else:
        found = run(program)
    if form == "floats":
        assert found.endswith(" 4")
        return
    assert found == in_c


@pytest.mark.parametrize(("package", "name"), [(p, n) for p, names in _UNFIT.items() for n in names])
def test_a_name_that_a_package_cannot_carry_is_refused(package: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(PackageUnfit, match=f"LAM-EMIT-008 {package}.*another --name"):
        compile_file(TINY, Options(name=name, package=(package,)))
    compile_file(TINY, Options(name=name, package=("cmake",), vectors=0))


@pytest.mark.parametrize("name", ["class", "new", "t", "memory_arena", "inputs"])
def test_a_word_of_cpp_that_begins_with_a_capital_is_a_name(name: str, tmp_path: Path) -> None:
    require_tool("g++")
    net = written(tmp_path / "net", compile_file(TINY, Options(name=name, package=("cpp",), vectors=0)))
    main = tmp_path / "m.cpp"
    main.write_text(f'#include "{net.name}.hpp"\n')
    includes = [*net.includes, f"-I{net.folder / 'cpp'}"]
    build("g++", ("-std=c++17", "-c"), [main], tmp_path / "m.o", includes=includes, warnings=CPP)


@pytest.mark.parametrize("name", ["net", "memory", "default_net", "checked", "c_void", "u8"])
def test_a_crate_may_be_called_as_what_is_in_it(name: str, tmp_path: Path) -> None:
    require_tool("rustc")
    net = written(tmp_path / "net", compile_file(TINY, Options(name=name, package=("rust",), vectors=0)))
    argv = ["rustc", "--edition", "2021", "--emit", "metadata", "--out-dir", str(tmp_path), "-Dwarnings"]
    lib = ["--crate-type", "lib", "--crate-name", net.name, str(net.folder / "rust" / "lib.rs")]
    check_program([*argv, *lib, "--cfg", 'feature="selftest"'], timeout_s=60)
    extern = ["--extern", f"{net.name}={tmp_path / f'lib{net.name}.rmeta'}", str(net.folder / "rust" / "selftest.rs")]
    check_program([*argv, "--test", *extern], timeout_s=60)


def test_other_standards_compile_with_plain_warnings(tmp_path: Path) -> None:
    require_tool("g++")
    net = made(tmp_path, FORMS["plain"])
    for standard in ("gnu++17", "gnu++20", "c++2b"):
        main = tmp_path / "m.cpp"
        main.write_text('#include "net.hpp"\nint main() { lamina::Net net; return net.output0().empty() ? 0 : 1; }\n')
        includes = [*net.includes, f"-I{net.folder / 'cpp'}"]
        build("g++", (f"-std={standard}", "-c"), [main], tmp_path / "m.o", includes=includes, warnings=CPP)


_MODULE = """
#include "py/obj.h"
#include <string.h>

jmp_buf stand_in_raised;
char stand_in_text[100];
extern const mp_obj_module_t *stand_in_module;

static const mp_obj_fun_t *named(const char *name)
{
    const mp_obj_dict_t *globals = stand_in_module->globals;
    for (size_t i = 0; i < globals->used; i++) {
        if (strcmp((const char *)globals->table[i].key, name) == 0) {
            return (const mp_obj_fun_t *)globals->table[i].value;
        }
    }
    printf("no %s\\n", name);
    return NULL;
}

int main(void)
{
    stand_in_obj *x = named("input")->call1(MP_OBJ_NEW_SMALL_INT(0));
    printf("%02x %d\\n", (unsigned)(uint8_t)x->typecode, (int)x->items);
    memset(x->data, 3, x->items);
    (void)named("run")->call0();
    stand_in_obj *y = named("output")->call1(MP_OBJ_NEW_SMALL_INT(0));
    const int8_t *v = y->data;
    printf("%c %d: %d %d %d %d\\n", y->typecode, (int)y->items, v[0], v[1], v[2], v[3]);
    printf("%d\\n", (int)mp_obj_get_int(named("selftest")->call0()));
    if (setjmp(stand_in_raised) == 0) {
        (void)named("output")->call1(MP_OBJ_NEW_SMALL_INT(1));
    }
    printf("%s\\n", stand_in_text);
    return 0;
}
"""


def qstrings(module: Path) -> list[str]:
    """MicroPython's build finds the words that a module uses and numbers them; here each one is its own text."""
    words = sorted(set(re.findall(r"MP_QSTR_\w+", module.read_text())))
    return [f'-D{word}="{word.removeprefix("MP_QSTR_")}"' for word in words]


@pytest.mark.parametrize(("compiler", "name"), [("clang", "net"), ("gcc", "network")])
def test_the_micropython_module_runs_behind_a_stand_in(compiler: str, name: str, in_c: str, tmp_path: Path) -> None:
    require_tool(compiler)
    net = made(tmp_path, Options(name=name, package=("micropython",)))
    folder = net.folder / "micropython" / name
    main = tmp_path / "main.c"
    main.write_text(_MODULE)
    listed = re.findall(r"_DIR\)/(\S+\.c)", (folder / "micropython.mk").read_text())
    assert sorted(listed) == sorted(path.name for path in folder.glob("*.c"))
    assert set(listed) == set(re.findall(r"_DIR\}/(\S+\.c)", (folder / "micropython.cmake").read_text()))
    flags = ("-O0", *SANITIZE, *qstrings(folder / f"mod_{name}.c"), f"-I{folder}", f"-I{STAND_IN}")
    relaxed = [w for w in WARNINGS if w != "-Wpedantic"]
    sources = [main, *(folder / name for name in listed)]
    unused = ("-Wno-unused-variable", "-Wno-unused-const-variable")
    program = build(compiler, (*flags, *unused), sources, tmp_path / "m.out", warnings=relaxed)
    said = f"e2 64\nb 4: {in_c.removesuffix(' 4')}\n0\nIndexError: output out of range\n"
    assert run(program) == said


def test_a_module_is_refused_what_it_cannot_carry() -> None:
    for options in (Options(stream_input=True), Options(weights="blob"), Options(target="gap8-like")):
        with pytest.raises(PackageUnfit):
            compile_file(
                TINY,
                Options(
                    **{f: getattr(options, f) for f in ("stream_input", "weights", "target")}, package=("micropython",)
                ),
            )  # type: ignore[arg-type]
