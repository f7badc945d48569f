"""The scratchpad regime: kernels on the scratchpad, transfers as late as the contract allows, every wait needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.api import verify
from codegen.emit import write_project
from codegen.errors import ScratchpadTooSmall
from codegen.golden.interface import made_rows
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.quant import Array
from codegen.ir.verify import IrError
from codegen.pipeline import Compiled
from codegen.prove.scratchpad import shadow_scratchpad
from tests.support.graphs import conv_chain, residual
from tests.support.networks import network_path
from tests.support.real import model_path
from tests.support.scratchpad import branches, compile_scratchpad, target_file

GRAPHS = {"branches": branches, "residual": residual, "conv_chain": conv_chain}
SIZES = {"branches": (3200, 5000, 65536), "residual": (1500, 65536), "conv_chain": (1500, 65536)}
CASES = [(name, size) for name, sizes in SIZES.items() for size in sizes]


def feeds(compiled: Compiled, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    kinds = {face.value: compiled.graph.type(face.value) for face in compiled.graph.inputs}
    return {v: rng.integers(-128, 128, t.shape).astype(t.dtype.numpy) for v, t in kinds.items()}


def check(compiled: Compiled, net: Network, seed: int = 0) -> list[str]:
    """Tensors that differ from the golden model's, by name."""
    given = feeds(compiled, seed)
    golden = run_graph(compiled.graph, given)
    outputs, tensors = net.trace_raw(given)
    wrong = [n for n, x in tensors.items() if not np.array_equal(x, made_rows(golden[n], compiled.shadow.rows[n]))]
    return wrong + [n for n, x in outputs.items() if not np.array_equal(x, golden[n])]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("weights", ["c", "blob"])
@pytest.mark.parametrize(("name", "size"), CASES)
def test_every_tensor_equals_golden(name: str, size: int, weights: str, tmp_path: Path) -> None:
    compiled = compile_scratchpad(GRAPHS[name](), size, weights)
    assert compiled.program.scratchpad is not None
    assert compiled.program.scratchpad.bytes <= size
    write_project(tmp_path / "project", compiled.files)
    flags = ("-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    with Network(tmp_path / "project", trace=True, flags=flags) as net:
        assert check(compiled, net, 1) == []
        assert check(compiled, net, 2) == []


def test_copies_made_at_once_give_the_same(tmp_path: Path) -> None:
    compiled = compile_scratchpad(branches(), 5000)
    write_project(tmp_path / "project", compiled.files)
    with Network(tmp_path / "project", trace=True, flags=("-O1", "-DLAM_DMA_SYNC")) as net:
        assert check(compiled, net) == []


def test_too_little_scratchpad_names_the_layer() -> None:
    with pytest.raises(ScratchpadTooSmall, match="B of scratchpad at least"):
        compile_scratchpad(branches(), 400)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("resnet8_qdq", 16384),
        pytest.param("vww_qdq", 24576, marks=pytest.mark.slow),
        ("kws_qdq", 8192),
        ("ad_qdq", 16384),
    ],
)
def test_real_networks_verify_in_little_scratchpad(name: str, size: int, tmp_path: Path) -> None:
    found = verify(model_path(name), target=target_file(tmp_path, size), samples=2)
    assert found.equal, found.first_difference


@pytest.mark.slow
def test_mobilenet_v2_verifies_in_64_kilobytes() -> None:
    found = verify(network_path("mobilenet_v2_1.0_224"), target="gap8-like", samples=1)
    assert found.equal, found.first_difference


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "size"), CASES)
def test_the_shadow_run_needs_every_wait(name: str, size: int) -> None:
    program = compile_scratchpad(GRAPHS[name](), size).program
    scratchpad = program.scratchpad
    assert scratchpad is not None
    for i, command in enumerate(scratchpad.commands):
        if command.act == "wait":
            without = replace(scratchpad, commands=scratchpad.commands[:i] + scratchpad.commands[i + 1 :])
            with pytest.raises(IrError):
                shadow_scratchpad(replace(program, scratchpad=without))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "size"), CASES)
def test_the_shadow_run_needs_every_transfer_and_every_row_of_the_rings(name: str, size: int) -> None:
    program = compile_scratchpad(GRAPHS[name](), size).program
    scratchpad = program.scratchpad
    assert scratchpad is not None
    for i, stream in enumerate(scratchpad.streams):
        if stream.ring > 1:
            streams = (*scratchpad.streams[:i], replace(stream, ring=stream.ring - 1), *scratchpad.streams[i + 1 :])
            with pytest.raises(IrError):
                shadow_scratchpad(replace(program, scratchpad=replace(scratchpad, streams=streams)))
    for i, command in enumerate(scratchpad.commands):
        if command.act in ("load", "store", "params", "fill"):
            without = replace(scratchpad, commands=scratchpad.commands[:i] + scratchpad.commands[i + 1 :])
            with pytest.raises(IrError):
                shadow_scratchpad(replace(program, scratchpad=without))


class Patched:
    """A network whose list of commands can be changed between runs."""

    def __init__(self, compiled: Compiled, folder: Path) -> None:
        name = compiled.program.name
        files = dict(compiled.files)
        source = files[f"src/{name}.c"].decode()
        source = source.replace("static const command commands[", "static command commands[", 1)
        hook = (
            "\nint lam_test_skip(int32_t at);\nint lam_test_skip(int32_t at)\n{\n"
            "    static command kept;\n    static int32_t skipped = -1;\n"
            "    if (skipped >= 0) {\n        commands[skipped] = kept;\n    }\n    skipped = at;\n"
            "    if (at >= 0) {\n        kept = commands[at];\n        commands[at].act = RUN;\n"
            "        commands[at].count = 0;\n        commands[at].index = 0;\n    }\n    return 0;\n}\n"
        )
        files[f"src/{name}.c"] = (source + hook).encode()
        write_project(folder, files)
        self.net = Network(folder, trace=True, flags=("-O1",))
        self.net._ffi.cdef("int lam_test_skip(int32_t at); void lam_dma_forget(void);")

    def skip(self, at: int) -> None:
        """Leave command `at` out of the next runs (-1: none)."""
        self.net._lib.lam_dma_forget()
        self.net._lib.lam_test_skip(at)


@pytest.fixture(scope="module")
def resnet8(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Compiled, Patched]]:
    compiled = compile_scratchpad(model_path("resnet8_qdq"), 16384)
    patched = Patched(compiled, tmp_path_factory.mktemp("resnet8") / "project")
    with patched.net:
        yield compiled, patched


def test_no_wait_of_resnet8_can_be_left_out(resnet8: tuple[Compiled, Patched]) -> None:
    compiled, patched = resnet8
    assert compiled.program.scratchpad is not None
    commands = compiled.program.scratchpad.commands
    assert re.search(rb"\{WAIT, \d+, 0, 0, 0\},", compiled.files["src/resnet8_qdq.c"])
    patched.skip(-1)
    assert check(compiled, patched.net) == []
    waits = [i for i, c in enumerate(commands) if c.act == "wait"]
    unseen = []
    for i in waits:
        patched.skip(i)
        if not check(compiled, patched.net):
            unseen.append(i)
    patched.skip(-1)
    assert check(compiled, patched.net) == []
    assert unseen == []
