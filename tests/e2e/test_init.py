"""What init, input, run and output refuse, each with its own status; and that a refusal leaves nothing half done."""

from __future__ import annotations

import ctypes
import json
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.golden.interpreter import run_graph
from codegen.options import Options
from codegen.pipeline import compile_graph
from codegen.process import check_program
from codegen.report.columns import size_text
from codegen.target import load_target
from tests.e2e.libraries import HEADER_BYTES, Library, Memory, load, loaded, status
from tests.e2e.projects import DIGITS, compiled, project, random_feeds, written
from tests.support.graphs import conv_chain
from tests.support.shared import ROOT


@pytest.fixture(scope="module")
def blobbed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return load(tmp_path_factory.mktemp("blob"), "pulled", "blob")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return load(tmp_path_factory.mktemp("plain"), "conv_chain", "c")


def changed(index: int) -> Callable[[bytes], bytes]:
    return lambda blob: blob[:index] + bytes([blob[index] ^ 0xFF]) + blob[index + 1 :]


def sealed(index: int) -> Callable[[bytes], bytes]:
    """A header that says something else, and whose own checksum is right."""

    def change(blob: bytes) -> bytes:
        head = changed(index)(blob)[: HEADER_BYTES - 4]
        return head + zlib.crc32(head).to_bytes(4, "little") + blob[HEADER_BYTES:]

    return change


REFUSED = {
    "magic": (sealed(0), "LAM_ERROR_WEIGHTS_MAGIC"),
    "magic's end": (sealed(3), "LAM_ERROR_WEIGHTS_MAGIC"),
    "version": (sealed(4), "LAM_ERROR_WEIGHTS_VERSION"),
    "byte order": (sealed(5), "LAM_ERROR_WEIGHTS_BYTE_ORDER"),
    "byte kept for later": (sealed(6), "LAM_ERROR_WEIGHTS_RESERVED"),
    "next byte kept for later": (sealed(7), "LAM_ERROR_WEIGHTS_RESERVED"),
    "instruction set": (sealed(8), "LAM_ERROR_WEIGHTS_ISA"),
    "instruction set's end": (sealed(23), "LAM_ERROR_WEIGHTS_ISA"),
    "structure": (sealed(24), "LAM_ERROR_WEIGHTS_STRUCTURE"),
    "structure's end": (sealed(35), "LAM_ERROR_WEIGHTS_STRUCTURE"),
    "interface": (sealed(36), "LAM_ERROR_WEIGHTS_INTERFACE"),
    "interface's end": (sealed(39), "LAM_ERROR_WEIGHTS_INTERFACE"),
    "size": (sealed(40), "LAM_ERROR_WEIGHTS_SIZE"),
    "checksum": (sealed(44), "LAM_ERROR_WEIGHTS_CRC"),
    "last bytes kept for later": (sealed(56), "LAM_ERROR_WEIGHTS_RESERVED"),
    "end of those": (sealed(59), "LAM_ERROR_WEIGHTS_RESERVED"),
    "header's checksum": (changed(60), "LAM_ERROR_WEIGHTS_HEADER"),
    "damaged structure": (changed(24), "LAM_ERROR_WEIGHTS_HEADER"),
    "damaged weights id": (changed(48), "LAM_ERROR_WEIGHTS_HEADER"),
    "first weight": (changed(HEADER_BYTES), "LAM_ERROR_WEIGHTS_CRC"),
    "last weight": (lambda blob: changed(len(blob) - 1)(blob), "LAM_ERROR_WEIGHTS_CRC"),
    "one byte short": (lambda blob: blob[:-1], "LAM_ERROR_WEIGHTS_SIZE"),
    "header cut off": (lambda blob: blob[: HEADER_BYTES - 1], "LAM_ERROR_WEIGHTS_SIZE"),
    "empty": (lambda blob: b"", "LAM_ERROR_WEIGHTS_SIZE"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_blob_is_refused_with_its_own_status(blobbed: Library, what: str) -> None:
    change, expected = REFUSED[what]
    assert blobbed.made.blob is not None
    wrong = change(blobbed.made.blob)
    place, size = ctypes.c_void_p(blobbed.aligned(wrong)), ctypes.c_size_t(len(wrong))
    assert status(blobbed.call("check_weights", place, size)) == expected
    assert blobbed.init(blobbed.memory(wrong)) == expected
    assert status(blobbed.call("run", blobbed.net)) == "LAM_ERROR_NOT_READY"


@pytest.mark.parametrize("shift", [1, 2, 4, 8])
def test_a_blob_off_its_boundary_is_refused(blobbed: Library, shift: int) -> None:
    assert blobbed.init(blobbed.memory(shift=shift)) == "LAM_ERROR_WEIGHTS_ALIGN"


def test_a_missing_blob_is_refused(blobbed: Library) -> None:
    memory = blobbed.memory()
    memory.weights = None
    assert blobbed.init(memory) == "LAM_ERROR_NULL"


def test_a_longer_flash_area_than_the_blob_is_fine(blobbed: Library) -> None:
    assert blobbed.made.blob is not None
    assert blobbed.init(blobbed.memory(blobbed.made.blob + bytes(100))) == "LAM_OK"


def test_skip_crc_believes_the_contents_but_not_the_header(blobbed: Library) -> None:
    blob = blobbed.made.blob
    assert blob is not None
    assert blobbed.init(blobbed.memory(changed(HEADER_BYTES)(blob), skip_crc=1)) == "LAM_OK"
    assert blobbed.init(blobbed.memory(changed(24)(blob), skip_crc=1)) == "LAM_ERROR_WEIGHTS_HEADER"
    assert blobbed.init(blobbed.memory(sealed(24)(blob), skip_crc=1)) == "LAM_ERROR_WEIGHTS_STRUCTURE"


def test_a_blob_of_the_other_byte_order_differs_in_every_word(tmp_path: Path) -> None:
    little, big = (project(tmp_path / t, "pulled", weights="blob", target=t).blob for t in ("generic", "ppc32"))
    assert little is not None
    assert big is not None
    assert little[:5] == big[:5]
    assert (little[5], big[5]) == (1, 2)
    assert len(little) == len(big)
    assert little[40:44] == big[40:44]
    assert little[HEADER_BYTES:] != big[HEADER_BYTES:]


def test_a_network_refuses_bad_memory(plain: Library) -> None:
    good = plain.memory()
    cases = {
        "LAM_ERROR_ARENA_SIZE": Memory(good.arena, good.arena_size - 1),
        "LAM_ERROR_ARENA_ALIGN": Memory(good.arena + 1, good.arena_size),
        "LAM_ERROR_NULL": Memory(None, good.arena_size),
    }
    for expected, memory in cases.items():
        assert plain.init(good) == "LAM_OK"
        assert plain.init(memory) == expected
        assert status(plain.call("run", plain.net)) == "LAM_ERROR_NOT_READY"
        assert plain.call("input", plain.net, 0, result=ctypes.c_void_p) is None
        assert plain.call("output", plain.net, 0, result=ctypes.c_void_p) is None


def test_no_memory_at_all_leaves_a_ready_network_not_ready(plain: Library) -> None:
    assert plain.init(plain.memory()) == "LAM_OK"
    assert status(plain.call("init", plain.net, None)) == "LAM_ERROR_NULL"
    assert status(plain.call("run", plain.net)) == "LAM_ERROR_NOT_READY"


def test_the_arena_is_refused_at_every_smaller_alignment(plain: Library) -> None:
    good, align = plain.memory(), plain.made.compiled.program.arena_align
    for shift in range(1, align):
        assert plain.init(Memory(good.arena + shift, good.arena_size)) == "LAM_ERROR_ARENA_ALIGN"


def test_null_pointers_are_refused_and_indices_checked(plain: Library) -> None:
    good = plain.memory()
    assert status(plain.call("init", None, ctypes.byref(good))) == "LAM_ERROR_NULL"
    assert status(plain.call("init", plain.net, None)) == "LAM_ERROR_NULL"
    assert status(plain.call("run", None)) == "LAM_ERROR_NULL"
    assert plain.init(good) == "LAM_OK"
    for name in ("input", "output"):
        assert plain.call(name, plain.net, 0, result=ctypes.c_void_p) is not None
        assert plain.call(name, None, 0, result=ctypes.c_void_p) is None
        for index in (-1, 1, 2**31 - 1):
            assert plain.call(name, plain.net, index, result=ctypes.c_void_p) is None


@pytest.mark.parametrize("which", ["plain", "blobbed"])
def test_init_and_run_may_be_repeated(which: str, request: pytest.FixtureRequest) -> None:
    library: Library = request.getfixturevalue(which)
    made = library.made.compiled
    output = made.graph.outputs[0].value
    first, second = library.memory(), library.memory()
    for memory in (first, first, second):
        assert library.init(memory) == "LAM_OK"
        for feeds in random_feeds(made, 3):
            expected = run_graph(made.graph, feeds)[output]
            assert np.array_equal(library.run(next(iter(feeds.values()))), expected)


def test_the_arena_has_one_size_everywhere(plain: Library) -> None:
    made = plain.made
    header = (made.folder / "include" / f"{made.name}.h").read_text()
    readme = (made.folder / "README.md").read_text()
    manifest = json.loads((made.folder / "manifest.json").read_text())
    size = manifest["arena_bytes"]
    assert f"#define {made.upper}_ARENA_SIZE {size}\n" in header
    assert f"| working memory (arena) | {size} |" in readme
    assert size == made.compiled.plan.arena_bytes == made.compiled.program.arena_bytes
    ends = [place["offset"] + place["bytes"] for place in manifest["memory_map"]]
    assert size >= max(ends)
    assert manifest["arena_lower_bound_bytes"] <= size


def test_the_command_prints_that_size(tmp_path: Path) -> None:
    size = compiled("digits").program.arena_bytes
    command = [sys.executable, "-m", "codegen", "compile", DIGITS, "-t", "host", "-o", tmp_path / "out"]
    printed = check_program(command, cwd=ROOT, timeout_s=60).stdout.decode("utf-8")
    assert f"{size_text(size)} working memory" in printed
    assert f"_ARENA_SIZE {size}\n" in (tmp_path / "out" / "include" / "digits_qdq.h").read_text()


@pytest.fixture(scope="module")
def streamed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("streamed")
    made = compile_graph(conv_chain(), load_target("host"), Options(stream_input=True))
    return loaded(written(folder / "project", made), folder)


def stream(library: Library, rows: np.ndarray, push: Callable[[int, int], str]) -> bytes:
    """The output of one input whose rows `push` gives, told their number and the place of the next one."""
    library.call("reset", library.net, result=None)
    for index in range(len(rows)):
        place = library.call("next_row", library.net, result=ctypes.c_void_p)
        if push(index, place) == "LAM_DONE":
            return library.output().tobytes()
    raise AssertionError("all rows are pushed, and more are wanted")


def push_at(library: Library, address: int) -> str:
    return status(library.call("push_row", library.net, ctypes.c_void_p(address)))


def test_a_row_is_taken_where_next_row_says_and_nowhere_else_in_the_arena(streamed: Library) -> None:
    memory = streamed.memory()
    size, row_bytes = memory.arena_size, 30
    assert streamed.init(memory) == "LAM_OK"
    (feeds,) = random_feeds(streamed.made.compiled, 1)[:1]
    rows = next(iter(feeds.values())).reshape(12, row_bytes)
    refused = []

    def copied(index: int, _: int) -> str:
        return push_at(streamed, streamed.aligned(rows[index].tobytes()))

    def in_place(index: int, place: int) -> str:
        kept = ctypes.string_at(memory.arena, size)
        inside = range(memory.arena - row_bytes + 1, memory.arena + size)
        wrong = [
            at for at in inside if at != place and (at in (inside[0], inside[-1]) or abs(at - place) in (1, 2, 29, 30))
        ]
        refused.extend(push_at(streamed, at) for at in wrong)
        assert ctypes.string_at(memory.arena, size) == kept
        assert streamed.call("next_row", streamed.net, result=ctypes.c_void_p) == place
        ctypes.memmove(place, rows[index].tobytes(), row_bytes)
        return push_at(streamed, place)

    expected = run_graph(streamed.made.compiled.graph, feeds)[streamed.made.compiled.graph.outputs[0].value].tobytes()
    assert stream(streamed, rows, copied) == expected
    assert stream(streamed, rows, in_place) == expected
    assert set(refused) == {"LAM_ERROR_ROW_OVERLAP"}
    assert len(refused) > 50


def test_rows_just_beside_the_arena_are_taken(streamed: Library) -> None:
    place = streamed.aligned(bytes(2000 + streamed.made.compiled.program.arena_bytes))
    arena = place + 1024
    size = streamed.made.compiled.program.arena_bytes
    for at in (arena - 30, arena + size):
        assert streamed.init(Memory(arena, size)) == "LAM_OK"
        assert push_at(streamed, at) == "LAM_NEED_MORE"
