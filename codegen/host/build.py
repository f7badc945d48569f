"""Builds a generated project as a shared library for cffi."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codegen.errors import LibraryUnusable, ToolMissing
from codegen.host.hooks import hook_sources, stubbed
from codegen.process import Completed, check_program, find_program, need_program, run_program
from codegen.resources import resource_dir
from codegen.threads import each

WARNINGS = (
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Wcast-align",
    "-Wundef",
    "-Werror",
)
"""What every generated file compiles under without a word, with gcc and clang."""

_FASTEST = ("-O3", *(("-march=native",) if platform.machine() in ("x86_64", "AMD64", "i686") else ()))
"""What makes generated code fastest on this machine."""

_OWN_SYMBOLS = () if platform.system() == "Darwin" else ("-Wl,-Bsymbolic",)
"""A network `svc` has a function svc_run, as the C library has: the linker takes the network's own (Darwin's does)."""

TIMEOUT_S = 300.0
_LARGE = 1 << 20
"""Bytes of a source that is compiled beside the others, and not before them."""


def host_compiler() -> str:
    """The C compiler to use: $CC, else cc; an empty CC says nothing, as in make."""
    return os.environ.get("CC", "").strip() or "cc"


def host_flags(level: str | None = None) -> tuple[str, ...]:
    """How C of target `host` is optimised here: $CFLAGS, else what is fastest on this machine, with -O of `level`.

    Results are the same bits with any flags: the runtime headers choose instructions by what the compiler may use, and
    refuse -ffast-math.
    """
    flags = tuple(_words(os.environ.get("CFLAGS", ""))) or _FASTEST
    return flags if level is None else (level, *(f for f in flags if not f.startswith("-O")))


def compiler_words(named: str | None = None) -> list[str]:
    """The program of the compiler `named`, else of the host's, and its own arguments; LAM-PROCESS-001 without one."""
    program, *own = command_words(named or host_compiler())
    return [str(need_program(program, ("gcc", "libc6-dev"))), *own]


def command_words(text: str) -> list[str]:
    """A program and its arguments, as a shell reads `ccache gcc -m32`; a program's path may hold spaces.

    What no shell could read, such as open quotes, is one word.
    """
    return [text] if find_program(text) else _words(text) or [text]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return [text]


def build_library(
    project: Path,
    manifest: Mapping[str, Any],
    out: Path,
    *,
    trace: bool,
    compiler: str | None = None,
    flags: Sequence[str] = ("-O2",),
) -> Path:
    """The project, the shim and (with `trace`) the trace hook in one shared library in folder `out`."""
    cc = compiler_words(compiler)
    name = manifest["name"]
    shim = resource_dir("runtime_c") / "host" / "lam_host_shim.c"
    library = out / f"lib{name}.so"
    sources = [*project_sources(project, name), shim]
    if manifest.get("preprocess"):
        sources.append(project / "src" / f"{name}_preprocess.c")
    if manifest.get("postprocess"):
        sources.append(project / "src" / f"{name}_postprocess.c")
    sources += [*hook_sources(project), *stubbed(manifest, out)]
    threads: list[str] = []
    if manifest.get("scratchpad_bytes"):
        sources.append(shim.with_name("lam_dma_deferred.c"))
        threads = ["-pthread", "-DLAM_DMA_THREADS"] if manifest["cores"] > 1 else []
    includes = [f"-I{project / folder}" for folder in ("include", "runtime", "src")]
    defines = shim_defines(manifest, trace=trace)
    words = [*cc, *WARNINGS, *flags, *threads, *defines, "-fPIC", *includes]
    if any(source.stat().st_size > _LARGE for source in sources):
        numbered = list(enumerate(sources))
        sources = each(lambda one: _compiled([*words, "-c", one[1]], out / f"{one[0]}_{one[1].stem}.o"), numbered)
    return _compiled([*words, "-shared", *_OWN_SYMBOLS, *sources], library)


def _compiled(words: Sequence[str | Path], file: Path) -> Path:
    """A file that the compiler writes."""
    check_program([*map(str, words), "-o", str(file)], timeout_s=TIMEOUT_S, writes=file)
    return file


def project_sources(project: Path, name: str) -> list[Path]:
    """The C files of a network that a firmware compiles; a user's own that lie beside them are not among them."""
    return [project / "src" / f"{name}{part}.c" for part in ("", "_layers", "_weights")]


def open_library(ffi: Any, library: Path, functions: Iterable[str]) -> Any:
    """The library loaded, with all these functions; LAM-HOST-011 for a file that is none."""
    try:
        loaded = ffi.dlopen(str(library))
        for name in functions:
            getattr(loaded, name)
    except (OSError, AttributeError) as error:
        raise LibraryUnusable(str(error), where=host_compiler()) from error
    return loaded


def run_built(program: Path, timeout_s: float) -> Completed:
    """A program that the host's compiler wrote, run to its end; LAM-HOST-011 for a file that is none."""
    try:
        return run_program([program], timeout_s=timeout_s)
    except ToolMissing as error:
        raise LibraryUnusable(error.found, where=host_compiler()) from error


def shim_defines(manifest: Mapping[str, Any], *, trace: bool) -> list[str]:
    """Macros that tell the C of runtime_c/host which network it drives."""
    name = manifest["name"]
    found = [f"-DLAM_HOST_NAME={name}", f"-DLAM_HOST_UPPER={name.upper()}", f'-DLAM_HOST_HEADER="{name}.h"']
    if manifest["weights_file"]:
        found.append("-DLAM_HOST_BLOB")
    if manifest.get("weights_buffer_bytes"):
        found.append("-DLAM_HOST_READ")
    if manifest.get("scratchpad_bytes"):
        found.append("-DLAM_HOST_SCRATCHPAD")
        found += ["-DLAM_HOST_CORES"] if manifest["cores"] > 1 else []
    regions = [memory["memory"] for memory in manifest["plan"]["memories"][1:]]
    found += [f"-DLAM_HOST_REGIONS={host_regions(regions)}"] if regions else []
    if manifest.get("preprocess"):
        found.append(f'-DLAM_HOST_CAMERA="{name}_preprocess.h"')
        found += ["-DLAM_HOST_CAMERA_CHROMA"] if manifest["preprocess"]["chroma"] else []
    if manifest.get("postprocess"):
        found.append(f'-DLAM_HOST_POST="{name}_postprocess.h"')
    if manifest["streamed"]:
        found.append("-DLAM_HOST_STREAM")
    if manifest["states"]:
        found.append("-DLAM_HOST_STATE")
    if trace:
        found += [f"-D{name.upper()}_TRACE", "-DLAM_HOST_TRACE"]
    return found


def host_regions(memories: Iterable[str]) -> str:
    """LAM_HOST_REGIONS: the working memories beside the arena, for the C of runtime_c/host."""
    return " ".join(f"REGION({name}, {name.upper()})" for name in memories)
