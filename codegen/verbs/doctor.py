"""doctor: which programs and packages of others are here, what each is for, and how to get the missing ones."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
from collections.abc import Iterable

from codegen.host import command_words, host_compiler
from codegen.process import find_program
from codegen.records import record
from codegen.resources import VERSION
from codegen.target import Target
from codegen.verbs.targets import targets

_PACKAGES = {
    "onnxruntime": ("ort", "the engine float; quantizing"),
    "ai_edge_litert": ("litert", "the engine litert"),
    "tflite_micro": ("tflm", "the engine tflm"),
    "matplotlib": ("plot", "--plan-svg and draw_plan"),
    "torch": ("train", "PyTorch's modules and .pt2 files; codegen.train"),
    "keras": ("keras", ".keras files"),
    "distributed": ("dask", "--scheduler: work on other processes and machines"),
    "PIL": ("images", "data files of pictures: jpeg, resize"),
}
"""Optional Python packages by the name they are imported by: the extra that brings each, and what it is for."""
_DISTRIBUTIONS = {"ai_edge_litert": "ai-edge-litert", "PIL": "pillow"}


@record
class Finding:
    """One program or package: where it is or which version, empty when it is missing; `get` says how to have it.

    `needed`: without it not even this machine's own code can be built.
    """

    name: str
    kind: str
    found: str
    purpose: str
    get: str
    needed: bool = False


@record
class Diagnosis:
    """Everything that was looked for."""

    version: str
    python: str
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing that is needed is missing."""
        return all(f.found or not f.needed for f in self.findings)


def doctor() -> Diagnosis:
    """Look for compilers, emulators and optional packages; nothing is started, and nothing is installed."""
    return Diagnosis(VERSION, platform.python_version(), (*_host(), *_chips(targets()), *map(_package, _PACKAGES)))


def _host() -> Iterable[Finding]:
    compiler = command_words(host_compiler())[0]
    yield _program(compiler, "compiler", "running networks on this machine", ("gcc",), needed=True)
    yield _program("make", "tool", "building a project's self-test", ("make",))
    yield _program("cmake", "tool", "projects added to a CMake build", ("cmake",))


def _chips(found: Iterable[Target]) -> Iterable[Finding]:
    """Each compiler and emulator of the targets once, with the targets that want it."""
    users: dict[tuple[str, str], tuple[list[str], tuple[str, ...]]] = {}
    for target in found:
        if target.toolchain is not None and target.toolchain.cc != host_compiler():
            key = ("compiler", target.toolchain.cc)
            users.setdefault(key, ([], target.toolchain.debian_packages))[0].append(target.name)
        if target.board is not None:
            key = ("emulator", target.board.emulator[0])
            users.setdefault(key, ([], target.board.debian_packages))[0].append(target.name)
    for (kind, name), (names, packages) in sorted(users.items()):
        yield _program(name, kind, _purpose(names), packages)


def _purpose(names: list[str]) -> str:
    return ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more targets"


def _program(name: str, kind: str, purpose: str, packages: tuple[str, ...], *, needed: bool = False) -> Finding:
    place = find_program(name)
    get = f"apt-get install {' '.join(packages)}" if packages else "see its maker's pages"
    return Finding(name, kind, "" if place is None else str(place), purpose, get, needed)


def _package(module: str) -> Finding:
    extra, purpose = _PACKAGES[module]
    name = _DISTRIBUTIONS.get(module, module)
    found = ""
    if importlib.util.find_spec(module) is not None:
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "here"
    return Finding(name, "package", found, purpose, f'pip install "lamina[{extra}]"')
