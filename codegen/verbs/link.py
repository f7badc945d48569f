"""link: several generated projects for one firmware: the memory they share, and whether they go together.

Decides: what keeps projects apart in one image.  Leaves the sizes of shared memory to `emit`, and what is inside a
project to the compiler that made it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any

from codegen.arguments import takes_declared
from codegen.datafiles import path_given, read_file
from codegen.emit import LINKER, check_folder, network_name, write_project
from codegen.emit.linked import link_files, link_view
from codegen.errors import FlashTooSmall, LinkClash, LinkMixed, LinkTooFew, LinkTooLarge, ProjectInvalid
from codegen.host.manifest import read_manifest
from codegen.records import record
from codegen.report.code_size import estimate_code_bytes
from codegen.resources import VERSION
from codegen.target import Target, list_targets, load_target
from codegen.verbs.compile import Project

MAX_SOURCE_BYTES = 1 << 30
_WORD = re.compile(rb"[A-Za-z_]\w*")
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
_SAME = ("version", "isa", "byte_order")
"""What all networks of one image have in common, as manifests call it."""


@record
class LinkedNetwork:
    """One network of several: its project, the bytes it works in, its weights, and about how much code it becomes.

    `weights_bytes` are those that are part of the image: none of a blob.
    """

    name: str
    project: Path
    arena_bytes: int
    weights_bytes: int
    code_estimate_bytes: int


@record
class LinkedMemory:
    """A memory that networks share: bytes for one at a time, and for all at once; the header's types have them."""

    name: str
    one_bytes: int
    all_bytes: int


@record
class Linked:
    """What several projects need together; `target` is empty where the chip is not known."""

    path: Path
    header: Path
    target: str
    networks: tuple[LinkedNetwork, ...]
    memories: tuple[LinkedMemory, ...]
    weights_bytes: int
    code_estimate_bytes: int
    notes: tuple[str, ...]


@record
class _Member:
    """A project that was read: its manifest, and the C files that a firmware compiles or includes, by path."""

    folder: Path
    manifest: Mapping[str, Any]
    files: Mapping[str, bytes]

    @property
    def name(self) -> str:
        return str(self.manifest["name"])

    def own(self) -> dict[str, str]:
        """Names of files and identifiers that begin as the network is called, small and big, and what each is."""
        begin = re.compile(rf"{self.name}(_|$)".encode(), re.IGNORECASE)
        texts = [_COMMENT.sub(b" ", data) for data in self.files.values()]
        words = {word for text in texts for word in _WORD.findall(text) if begin.match(word)}
        files = {PurePosixPath(p).name: "the file" for p in self.files if not p.startswith("runtime/")}
        return {**{word.decode(): "the name" for word in words}, **files}


@takes_declared
def link(
    projects: Sequence[Project | str | Path],
    out: str | Path,
    *,
    target: str | None = None,
    force: bool = False,
) -> Linked:
    """Write the header with the working memory that several generated projects share in one firmware.

    Args:
        projects: folders of generated projects, two or more; nothing is changed there.
        out: folder of the header, replaced as a project's is; its name is the header's, and prefix of its types.
        target: the chip whose RAM and flash they have to fit together; that of the projects when None.
        force: replace edited files too.

    Raises:
        CompileError: LAM-EMIT-010 .. 013 for projects that do not go together; LAM-HOST-001 for a folder that is none;
            LAM-SCHEDULE-302 for weights that exceed the flash together.
    """
    folder = path_given(out, "out")
    members = [_read(p.path if isinstance(p, Project) else path_given(p, "projects")) for p in projects]
    if len(members) < 2:
        raise LinkTooFew(f"{len(members)} project", where=str(folder))
    check_folder(folder, LINKER)
    called = network_name(folder.resolve().name)
    _check_alike(members)
    _check_apart(members, called)
    view = link_view(called, [member.manifest for member in members])
    memories = tuple(LinkedMemory(m.name, m.one.bytes, m.all.bytes) for m in view.memories)
    chip = _chip(members, target)
    made = Linked(
        path=folder,
        header=folder / "include" / f"{called}.h",
        target=chip.name if chip else "",
        networks=tuple(map(_network, members)),
        memories=memories,
        weights_bytes=sum(_in_image(m) for m in members),
        code_estimate_bytes=sum(_code(m) for m in members),
        notes=(),
    )
    made = made if chip is None else _fitted(made, chip)
    write_project(folder, link_files(view, _manifest(called, made)), force=force, tool=LINKER)
    return made


def _read(folder: Path) -> _Member:
    manifest = read_manifest(folder)
    listed = manifest.get("files")
    wanted = [p for p in listed or () if isinstance(p, str) and re.fullmatch(r"(include|src|runtime)/\w+\.[ch]", p)]

    def refused(found: str) -> ProjectInvalid:
        return ProjectInvalid(f"a file of it: {found}", where=str(folder))

    files = {path: read_file(folder / path, MAX_SOURCE_BYTES, refused) for path in wanted}
    if f"src/{manifest['name']}.c" not in files:
        raise ProjectInvalid("its manifest.json lists no sources", where=str(folder))
    return _Member(folder, manifest, files)


def _check_alike(members: Sequence[_Member]) -> None:
    """LAM-EMIT-011 for projects of different versions, instruction sets or byte orders, or with other runtime files."""
    first = members[0]
    for other in members[1:]:
        for key in _SAME:
            if first.manifest[key] != other.manifest[key]:
                said = f"{key.replace('_', ' ')} {first.manifest[key]} and {other.manifest[key]}"
                raise LinkMixed(said, where=f"{first.folder} and {other.folder}")
    for one, other in combinations(members, 2):
        for path in one.files:
            if path.startswith("runtime/") and other.files.get(path, one.files[path]) != one.files[path]:
                raise LinkMixed(f"{path} differs", where=f"{one.folder} and {other.folder}")


def _check_apart(members: Sequence[_Member], called: str) -> None:
    """LAM-EMIT-010 for names that two projects define, or that the header would take from one."""
    owned = [member.own() for member in members]
    for (one, first), (other, second) in combinations(zip(members, owned, strict=True), 2):
        both = sorted(set(first) & set(second), key=lambda word: (first[word], word))
        if both:
            said = f"both have {first[both[0]]} {both[0]}" if one.name != other.name else f"both are called {one.name}"
            raise LinkClash(said, where=f"{one.folder} and {other.folder}")
    for member, names in zip(members, owned, strict=True):
        if member.name == called or f"{called}.h" in names:
            raise LinkClash(f"the header would be called {called}.h as that of a network", where=str(member.folder))


def _chip(members: Sequence[_Member], asked: str | None) -> Target | None:
    """The chip that is asked for, or that all projects are for; None where they are for several, or for a file's."""
    names = {str(m.manifest["target"]) for m in members}
    if asked is not None:
        return _asked(asked, members[0])
    (name, *others) = sorted(names)
    return load_target(name) if not others and name in list_targets() else None


def _asked(name: str, member: _Member) -> Target:
    """The chip; LAM-EMIT-011 for one that the projects' code is not for."""
    chip = load_target(name)
    for key in ("isa", "byte_order"):
        made, wanted = member.manifest[key], getattr(chip, key)
        if made != wanted:
            said = f"{key.replace('_', ' ')} {made}, and {chip.name} has {wanted}"
            raise LinkMixed(said, where=str(member.folder), hint=f"compile all of them with -t {name}")
    return chip


def _network(member: _Member) -> LinkedNetwork:
    arena = member.manifest["plan"]["memories"][0]["bytes"]
    return LinkedNetwork(member.name, member.folder, arena, _in_image(member), _code(member))


def _in_image(member: _Member) -> int:
    """Bytes of constants that the image has of a network."""
    manifest = member.manifest
    weights = (manifest.get("weights_mapped_bytes") or 0) if manifest["weights_file"] else manifest["weights_bytes"]
    return int(weights + manifest["padding_bytes"])


def _code(member: _Member) -> int:
    return estimate_code_bytes(member.files, member.name, str(member.manifest["isa"]))


def _fitted(made: Linked, chip: Target) -> Linked:
    """The same with what has to be known of the chip's memories.

    Raises:
        FlashTooSmall: LAM-SCHEDULE-302, the weights alone exceed the flash.
        LinkTooLarge: LAM-EMIT-013, the arenas exceed the RAM even one at a time.
    """
    ram, flash, arena = chip.ram_bytes, chip.flash_bytes, made.memories[0]
    if flash is not None and made.weights_bytes > flash:
        sizes = ", ".join(f"{n.name} {n.weights_bytes} B" for n in made.networks)
        found = f"need {made.weights_bytes} B for weights together ({sizes}), {chip.name} has {flash} B of flash"
        raise FlashTooSmall(found, where=str(made.path))
    if ram is not None and arena.one_bytes > ram:
        found = f"need {arena.one_bytes} B of working memory one at a time, {chip.name} has {ram} B"
        raise LinkTooLarge(found, where=str(made.path))
    return replace(made, notes=tuple(_notes(made, chip)))


def _notes(made: Linked, chip: Target) -> Iterator[str]:
    ram, flash, arena = chip.ram_bytes, chip.flash_bytes, made.memories[0]
    if ram is not None and arena.all_bytes > ram:
        yield f"all at once they need {arena.all_bytes} B of working memory, {chip.name} has {ram} B"
    image = made.weights_bytes + made.code_estimate_bytes
    if flash is not None and image > flash:
        yield f"weights and code are about {image} B, {chip.name} has {flash} B of flash"


def _manifest(called: str, made: Linked) -> dict[str, Any]:
    """What the folder's manifest.json says; no paths, so that it is the same wherever the projects lie."""
    return {
        "tool": LINKER,
        "version": VERSION,
        "name": called,
        "target": made.target,
        "networks": [{"name": n.name, "arena_bytes": n.arena_bytes} for n in made.networks],
        "memories": [{"name": m.name, "one_bytes": m.one_bytes, "all_bytes": m.all_bytes} for m in made.memories],
        "notes": list(made.notes),
    }
