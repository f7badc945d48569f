"""Layer functions of many networks, each kind once, for the compilers of chips: does their assembly suit every level?

    python -m tests.e2e.assembly [MODEL ...] [--target=CHIP ...] [--level=LEVEL ...]

compiles every model given, or else all of ../shared/models, for each target, and each different layer function with
every compiler: those that call a block of assembly at every level of `LEVELS`, the other ones at those of `FEW`.
Whether a compiler finds registers for a block depends on what else its function holds, so that nothing but every
function at every level tells.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codegen.errors import CompileError, ToolFailed
from codegen.pipeline import Options, compile_file
from codegen.process import check_program
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support.headers import needed_headers
from tests.support.shared import shared_dir

CHIPS = ("cortex-m4", "cortex-m7", "cortex-m55", "cortex-m0plus")
"""The chips for which there is assembly."""
FEW = ("-O1", "-O3 -fno-omit-frame-pointer", "-Os")
LEVELS = (
    *("-O0", *FEW, "-O2", "-O3", "-Og"),
    *("-O1 -fno-omit-frame-pointer", "-O2 -fno-omit-frame-pointer"),
    *("-Os -fno-omit-frame-pointer", "-Og -g -fno-omit-frame-pointer"),
    *("-O2 -DLAM_SMALL=1", "-O2 -fPIC", "-O2 -fno-inline", "-O3 -funroll-loops", "-O2 -fstack-protector-all"),
)
"""Options of the compilers; all but -O0 have the assembly in them."""
COMPILERS = ("gcc", "clang")
_NEWLIB = "/usr/lib/arm-none-eabi/include"
_CLANG = (
    "clang",
    "--target=arm-none-eabi",
    "-isystem",
    _NEWLIB,
    "-Wno-unused-command-line-argument",
    "-fno-crash-diagnostics",
)
_BLOCK = re.compile(r"lam_dot_|lam_panel_|LAM_DOT_|lam_armv6m_|lam_mve_")
_CRASHED = 128
"""Exit codes above it are a driver's whose compiler a signal has ended."""
_NO_VECTORS = "-fno-vectorize"
"""Tried after a crash: at -Os clang 14's vectorizer does on two 16-bit convolutions in plain C for Cortex-M55."""
_BATCH = 20
_TIMEOUT_S = 600.0


def structs_of(header: str, name: str) -> dict[str, list[str]]:
    """The structs that each function takes by its number, of parameters and of a shape, from the layers' header."""
    structs = dict(re.findall(rf"typedef struct ({name}_k\d+_\w+) \{{\n(.*?)\n\}} \1;", header, re.DOTALL))
    for other, own in re.findall(rf"typedef ({name}_k\d+_\w+) ({name}_k\d+_\w+);", header):
        structs[own] = structs[other]
    found: dict[str, list[str]] = {}
    for own, fields in structs.items():
        number = re.sub(rf"{name}_k(\d+)_.*", r"\1", own)
        found.setdefault(number, []).append(f"typedef struct {own} {{\n{fields}\n}} {own};")
    return found


def layer_functions(layers: str, header: str, name: str) -> set[str]:
    """The functions in a file of layers of network `name`, each with its parameters' type and its helpers, as if they
    were `net_k0_...`.
    """
    _, start, rest = layers.partition(f'#include "{name}_layers.h"\n')
    assert start, layers
    text = re.sub(r'^#include ".+"\n', "", rest, flags=re.MULTILINE)
    bodies: dict[str, list[str]] = {}
    waiting: list[str] = []
    for block in re.split(r"\n\n(?=\S)", text.strip()):
        waiting.append(block)
        number = re.search(rf"\b{name}_k(\d+)_", block)
        if number:
            bodies.setdefault(number[1], []).extend(waiting)
            waiting = []
    assert not waiting, waiting
    types = structs_of(header, name)
    bodies = {number: [*types.get(number, []), *blocks] for number, blocks in bodies.items()}
    return {re.sub(rf"\b{name}_k\d+_", "net_k0_", "\n\n".join(blocks)) for blocks in bodies.values()}


def assemble(functions: Sequence[str], chip: str, compiler: str, level: str, folder: Path) -> None:
    """Compile them as one file; LAM-PROCESS-002 with the compiler's messages when one does not assemble."""
    source = folder / "layers.c"
    bodies = [text.replace("net_k0_", f"net_k{i}_") for i, text in enumerate(functions)]
    headers = ("lam_base.h", *needed_headers(bodies))
    source.write_text("\n".join([*(f'#include "{header}"' for header in headers), *bodies]))
    toolchain = load_target(chip).toolchain
    assert toolchain
    argv = [
        *((toolchain.cc,) if compiler == "gcc" else _CLANG),
        *(*toolchain.cflags, "-std=c99", *level.split(), *_includes()),
        *("-c", str(source), "-o", str(folder / "layers.o")),
    ]
    check_program(argv, timeout_s=_TIMEOUT_S)


def _includes() -> list[str]:
    runtime = resource_dir("runtime_c")
    return [f"-I{runtime / 'include'}", *(f"-I{folder}" for folder in sorted((runtime / "isa").iterdir()))]


def at_level(functions: Sequence[str], level: str) -> Sequence[str]:
    """Those to compile at a level: at a few all of them, at the other ones those that call a block."""
    return functions if level in FEW else [f for f in functions if _BLOCK.search(f)]


def refused(functions: Sequence[str], chip: str, compiler: str, level: str) -> Iterator[str]:
    """What the compiler says of those that it refuses, each alone."""
    for i in range(0, len(functions), _BATCH):
        yield from _refused(functions[i : i + _BATCH], chip, compiler, level)


def _refused(functions: Sequence[str], chip: str, compiler: str, level: str) -> Iterator[str]:
    try:
        with tempfile.TemporaryDirectory() as folder:
            assemble(functions, chip, compiler, level, Path(folder))
    except ToolFailed as error:
        if len(functions) > 1:
            for function in functions:
                yield from _refused([function], chip, compiler, level)
        elif error.returncode > _CRASHED and _NO_VECTORS not in level:
            yield from _refused(functions, chip, compiler, f"{level} {_NO_VECTORS}")
        else:
            yield f"{error}\n  in {_signature(functions[0])}"


def _signature(function: str) -> str:
    """Of its last C function, the one that the network calls."""
    return [line for line in function.splitlines() if line.startswith("void")][-1]


def functions_of(models: Iterable[Path], chip: str) -> tuple[int, list[str]]:
    """How many of the models compile for the chip, and their different layer functions, sorted."""
    found, count = set[str](), 0
    for model in models:
        try:
            made = compile_file(model, Options(target=chip, vectors=0, name="net"))
        except CompileError:
            continue
        found |= layer_functions(*(made.files[f"src/net_layers.{end}"].decode() for end in "ch"), "net")
        count += 1
    return count, sorted(found)


def all_models() -> list[Path]:
    """Every model beside the checkout."""
    return sorted(p for p in (shared_dir() / "models").rglob("*") if p.suffix in (".onnx", ".tflite"))


def main() -> int:
    """Exit status 1 when a compiler refuses a function."""
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--target", action="append", choices=CHIPS)
    parser.add_argument("--level", action="append", choices=LEVELS)
    args = parser.parse_args()
    bad = 0
    for chip in args.target or CHIPS:
        count, functions = functions_of(args.models or all_models(), chip)
        blocks = len(at_level(functions, "-O2"))
        print(f"{chip}: {count} networks, {len(functions)} functions, {blocks} with blocks", flush=True)
        for compiler in COMPILERS:
            for level in args.level or LEVELS:
                found = list(refused(at_level(functions, level), chip, compiler, level))
                bad += len(found)
                print(f"  {compiler} {level}: {len(found)} refused", *found[:2], sep="\n", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
