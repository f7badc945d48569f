"""lamina link: networks that share an arena give what they gave alone, and what does not go together is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import codegen
from codegen.errors import CompileError
from codegen.pipeline import Options, compile_graph
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.e2e.projects import HASH, SANITIZE, Project, build, pair, project, random_feeds, require_build, run, written
from tests.e2e.test_instances import cases_header
from tests.support.graphs import conv_chain, keeping

CASES = 4
"""Samples that `random_feeds(made, 2)` gives: two random ones and both ends."""

_MAIN = """#include <stdio.h>
#include "shared.h"
{includes}

static {type} arena;
{instances}

int main(void)
{{
    int failed = 0;
{inits}
    for (int i = 0; i < {cases}; i++) {{
{steps}
    }}
    printf("%zu %d\\n", sizeof(arena), failed);
    return 0;
}}
"""


def example_memory(header: str, name: str) -> str:
    """How the header says that a network's memory is filled in."""
    (line,) = (line for line in header.splitlines() if f"{name}_memory {name}_mem =" in line)
    return line.removeprefix(" *").strip()


def main_text(header: str, made: list[Project], *, at_once: bool) -> str:
    """A program that runs every network on every case, one after the other or with all inputs written first."""
    names = [m.name for m in made]
    write = {n: f"        memcpy({n}_input(&{n}_net, 0), {n}_cases[i].x, sizeof({n}_cases[0].x));" for n in names}
    go = {n: f"        failed += {n}_run(&{n}_net) != LAM_OK;" for n in names}
    equal = {
        n: f"        failed += memcmp({n}_output(&{n}_net, 0), {n}_cases[i].y, sizeof({n}_cases[0].y)) != 0;"
        for n in names
    }
    in_turn = [line for n in names for line in (write[n], go[n], equal[n])]
    memories = {
        n: f"{n}_memory {n}_mem = {n.upper()}_MEMORY(arena.{n});" if at_once else example_memory(header, n)
        for n in names
    }
    return _MAIN.format(
        includes="\n".join(f'#include "{n}_cases.h"' for n in names),
        type="shared_arena_all" if at_once else "shared_arena_one",
        instances="\n".join(f"static {n}_t {n}_net;" for n in names),
        inits="\n".join(
            line
            for n in names
            for line in (f"    {memories[n]}", f"    failed += {n}_init(&{n}_net, &{n}_mem) != LAM_OK;")
        ),
        cases=CASES,
        steps="\n".join([*write.values(), *go.values(), *equal.values()] if at_once else in_turn),
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("networks", [("residual", "pulled"), ("residual", "keeping", "digits"), ("keeping", "pulled")])
@pytest.mark.parametrize(("at_once", "compiler"), [(False, "gcc"), (True, "clang")])
def test_linked_networks_give_what_they_gave_alone(
    networks: tuple[str, ...], at_once: bool, compiler: str, tmp_path: Path
) -> None:
    """One keeps state between its runs, amid those of the others in the same memory."""
    require_build(compiler, SANITIZE, tmp_path)
    made = [project(tmp_path, network) for network in networks]
    linked = codegen.link([m.folder for m in made], tmp_path / "shared")
    for m in made:
        cases_header(m, random_feeds(m.compiled, CASES - 2), tmp_path)
    main = tmp_path / "main.c"
    main.write_text(main_text(linked.header.read_text(), made, at_once=at_once))
    includes = [f"-I{linked.header.parent}", f"-I{tmp_path}", *(i for m in made for i in m.includes)]
    unused = "-Wno-unused-function"  # of the cases' header, which other tests call
    sources = [main, *(s for m in made for s in m.sources)]
    said = run(build(compiler, ("-O0", unused, *SANITIZE), sources, tmp_path / "linked", includes=includes))
    arena = linked.memories[0]
    assert said.split() == [str(arena.all_bytes if at_once else arena.one_bytes), "0"]


def test_the_shared_arena_is_that_of_the_largest_network(tmp_path: Path) -> None:
    made = [project(tmp_path, network) for network in ("residual", "pulled", "keeping")]
    arenas = {m.name: m.compiled.program.arena_bytes for m in made}
    two = codegen.link([m.folder for m in made[:2]], tmp_path / "two").memories[0]
    assert two.one_bytes == -(-max(arenas["residual"], arenas["pulled"]) // 16) * 16
    three = codegen.link([m.folder for m in made], tmp_path / "three").memories[0]
    assert three.one_bytes >= two.one_bytes + arenas["keeping"]
    assert three.all_bytes >= sum(arenas.values())


@pytest.mark.parametrize("language", ["-std=c99", "-std=c11", "-xc++"])
def test_the_header_is_clean_in_every_language(language: str, tmp_path: Path) -> None:
    require_build("gcc", (), tmp_path)
    made = [project(tmp_path, network) for network in ("residual", "keeping", "pulled")]
    linked = codegen.link([m.folder for m in made], tmp_path / "shared")
    unit = tmp_path / "unit.c"
    unit.write_text(
        '#include "shared.h"\nextern shared_arena_one a;\nextern shared_arena_all b;\n'
        "shared_arena_one a;\nshared_arena_all b;\n"
    )
    flags = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror")
    standard = ("-xc++", "-std=c++17") if language == "-xc++" else (language,)
    includes = [f"-I{linked.header.parent}", *(i for m in made for i in m.includes)]
    build("gcc", ("-c", *standard), [unit], tmp_path / "unit.o", includes=includes, warnings=flags)


def named(folder: Path, name: str, **options: str) -> Path:
    """`pair` under another name, for a target."""
    target = options.pop("target", "host")
    made = compile_graph(pair(name), load_target(target), Options(target=target, **options), HASH)
    return written(folder / name, made).folder


@pytest.mark.parametrize(
    ("one", "other", "said"), [("kws", "kws", "both are called kws"), ("kws", "kws_layers", "kws_layers.c")]
)
def test_names_that_collide_are_refused(one: str, other: str, said: str, tmp_path: Path) -> None:
    folders = [named(tmp_path / "a", one), named(tmp_path / "b", other)]
    with pytest.raises(CompileError, match="LAM-EMIT-010") as refused:
        codegen.link(folders, tmp_path / "shared")
    assert said in str(refused.value)
    assert not (tmp_path / "shared").exists()


def test_a_name_that_only_begins_as_another_is_no_clash(tmp_path: Path) -> None:
    folders = [named(tmp_path, "kws"), named(tmp_path, "kws_small")]
    assert codegen.link(folders, tmp_path / "shared").memories[0].one_bytes > 0


def test_the_header_takes_no_network_s_name(tmp_path: Path) -> None:
    folders = [named(tmp_path, "kws"), named(tmp_path, "person")]
    for name in ("kws", "person_helpers"):
        with pytest.raises(CompileError, match="LAM-EMIT-010"):
            codegen.link(folders, tmp_path / name.upper())


@pytest.mark.parametrize(("key", "value"), [("version", "0.0.9"), ("isa", "armv7em"), ("byte_order", "big")])
def test_projects_of_other_kinds_are_refused(key: str, value: str, tmp_path: Path) -> None:
    folders = [named(tmp_path, "kws"), named(tmp_path, "person")]
    path = folders[1] / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(CompileError, match="LAM-EMIT-011"):
        codegen.link(folders, tmp_path / "shared")


@pytest.mark.parametrize(
    ("made", "asked"),
    [("cortex-m0plus", "avr"), ("cortex-m0plus", "cortex-m55"), ("host", "cortex-m0plus"), ("generic", "ppc32")],
)
def test_a_chip_with_other_instructions_is_refused(made: str, asked: str, tmp_path: Path) -> None:
    folders = [named(tmp_path, name, target=made) for name in ("kws", "person")]
    with pytest.raises(CompileError, match=f"LAM-EMIT-011.*{asked} has .*-t {asked}"):
        codegen.link(folders, tmp_path / "shared", target=asked)
    assert not (tmp_path / "shared").exists()
    assert codegen.link(folders, tmp_path / "shared", target=made).target == made


@pytest.mark.parametrize("way", ["state", "pinned"])
def test_a_network_that_begins_to_keep_something_needs_another_header(way: str, tmp_path: Path) -> None:
    """Compiled again with a state, or with weights that stay in the arena: the header as it was does not compile."""
    require_build("gcc", (), tmp_path)
    other = named(tmp_path, "other")

    def made(*, keeps: bool) -> Project:
        if way == "state":
            graph = keeping() if keeps else pair("keeping")
            return written(tmp_path / "net", compile_graph(graph, load_target("host"), Options(), HASH))
        pinned = ("n0*",) if keeps else ()
        options = Options(name="net", weights_buffer=8192, pinned=pinned, vectors=1)
        return written(tmp_path / "net", compile_graph(conv_chain("single"), load_target("host"), options, HASH))

    def includes(project: Project) -> list[str]:
        return [f"-I{tmp_path / 'shared' / 'include'}", f"-I{other / 'include'}", *project.includes]

    unit = tmp_path / "unit.c"
    unit.write_text('#include "shared.h"\nextern shared_arena_one a;\nshared_arena_one a;\n')
    for keeps in (False, True):
        project = made(keeps=keeps)
        if keeps:
            with pytest.raises(pytest.fail.Exception, match=r"keeps state or weights in its arena.*lamina link again"):
                build("gcc", ("-c",), [unit], tmp_path / "unit.o", includes=includes(project))
        header = codegen.link([project.folder, other], tmp_path / "shared").header.read_text()
        build("gcc", ("-c",), [unit], tmp_path / "unit.o", includes=includes(project))
    assert "in_turn" in header
    assert "The init of a network that reads its weights by hooks" in header


def test_other_runtime_headers_under_the_same_number_are_refused(tmp_path: Path) -> None:
    folders = [named(tmp_path, "kws"), named(tmp_path, "person")]
    header = folders[1] / "runtime" / "lam_base.h"
    header.write_text(header.read_text() + "/* another one */\n")
    with pytest.raises(CompileError, match=r"LAM-EMIT-011.*lam_base\.h"):
        codegen.link(folders, tmp_path / "shared")


def chip(folder: Path, ram: int, flash: int) -> str:
    """The generic chip with so much memory."""
    text = (resource_dir("targets") / "chips" / "reference" / "generic.toml").read_text("utf-8")
    path = folder / f"chip_{ram}_{flash}.toml"
    memories = (
        f'[[memories]]\nname = "{k}"\nkind = "{k}"\nbytes = {n}\nsource = "t"\n'
        for k, n in (("ram", ram), ("flash", flash))
    )
    path.write_text(text.split("[[memories]]")[0] + "".join(memories))
    return str(path)


def test_flash_and_ram_are_those_of_all_together(tmp_path: Path) -> None:
    folders = [named(tmp_path, name, target="generic") for name in ("kws", "person")]
    free = codegen.link(folders, tmp_path / "shared", target="generic")
    weights, arena = free.weights_bytes, free.memories[0]
    assert weights == 2 * free.networks[0].weights_bytes > 0
    with pytest.raises(CompileError, match="LAM-SCHEDULE-302"):
        codegen.link(folders, tmp_path / "tight", target=chip(tmp_path, 1 << 20, weights - 1))
    with pytest.raises(CompileError, match="LAM-EMIT-013"):
        codegen.link(folders, tmp_path / "tight", target=chip(tmp_path, arena.one_bytes - 1, 1 << 20))
    assert not (tmp_path / "tight").exists()
    enough = codegen.link(folders, tmp_path / "tight", target=chip(tmp_path, arena.one_bytes, weights))
    assert [note.split()[0] for note in enough.notes] == ["all", "weights"]


def test_weights_in_a_blob_are_no_part_of_the_image(tmp_path: Path) -> None:
    folders = [named(tmp_path, "kws"), named(tmp_path, "person", weights="blob")]
    kws, person = codegen.link(folders, tmp_path / "shared").networks
    assert (
        kws.weights_bytes - person.weights_bytes
        == json.loads((folders[0] / "manifest.json").read_text())["weights_bytes"]
    )


def test_one_project_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="LAM-EMIT-012"):
        codegen.link([named(tmp_path, "kws")], tmp_path / "shared")


def test_link_and_compile_do_not_take_each_other_s_folder(tmp_path: Path) -> None:
    folders = [named(tmp_path, "kws"), named(tmp_path, "person")]
    with pytest.raises(CompileError, match="LAM-EMIT-002"):
        codegen.link(folders, named(tmp_path, "other"))
    codegen.link(folders, tmp_path / "shared")
    with pytest.raises(CompileError, match="LAM-EMIT-002"):
        written(tmp_path / "shared", compile_graph(conv_chain("single"), load_target("host"), Options(), HASH))
    with pytest.raises(CompileError, match="LAM-HOST-001"):
        codegen.load(tmp_path / "shared")


def test_linking_again_gives_the_same_bytes_and_replaces_no_edit(tmp_path: Path) -> None:
    folders = [named(tmp_path, "kws"), named(tmp_path, "person")]
    made = codegen.link(folders, tmp_path / "shared")
    first = {p.name: p.read_bytes() for p in made.path.rglob("*") if p.is_file()}
    codegen.link(folders, tmp_path / "shared")
    assert {p.name: p.read_bytes() for p in made.path.rglob("*") if p.is_file()} == first
    made.header.write_text("mine\n")
    with pytest.raises(CompileError, match="LAM-EMIT-003"):
        codegen.link(folders, tmp_path / "shared")
    codegen.link(folders, tmp_path / "shared", force=True)
    assert made.header.read_bytes() == first["shared.h"]


def test_memories_beside_the_arena_are_shared_too(tmp_path: Path) -> None:
    target = "gap8-like"
    folders = [named(tmp_path, name, target=target) for name in ("kws", "person")]
    made = codegen.link(folders, tmp_path / "shared")
    assert [m.name for m in made.memories] == ["arena", "scratchpad"]
    assert "uint8_t kws[KWS_SCRATCHPAD_SIZE] KWS_SCRATCHPAD_ALIGNED;" in made.header.read_text()
