"""A network whose outputs are made sense of, by the `[postprocess]` table of its file: in golden and in C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from codegen.configuration import config_table
from codegen.errors import PostprocessValueBad
from codegen.golden.compare import Difference, first_difference
from codegen.golden.interface import PortSpec, graph_ports
from codegen.ir.graph import Graph
from codegen.ir.postprocess import PostProgram
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.pipeline import Compiled
from codegen.postprocess import Decoder, Found, parse_postprocess, post_program
from codegen.preprocess import need, read_npz
from codegen.records import record
from codegen.verbs.rewriting import written_with

if TYPE_CHECKING:
    from codegen.host import Network


Pair = tuple[Mapping[str, Array], Mapping[str, Array]]
"""Outputs by tensor, and what the C found in them."""


@record(kw_only=True)
class FoundCheck:
    """What golden and the C found in outputs of samples and in random outputs, and the first difference.

    `where` the C ran: `host`, or the target with its emulated board.
    """

    equal: bool
    where: str
    decode: str
    outputs: int
    found: int
    first_difference: Difference | None


def table_program(config: Path, graph: Graph) -> PostProgram | None:
    """What the file's table means for the outputs of a graph; None without such a table.

    Raises:
        CompileError: LAM-PREPROCESS-001 and -002, LAM-POSTPROCESS-001 and -002; the ids of `read_npz`.
    """
    keys = config_table(config, "postprocess")
    if keys is None:
        return None
    table = parse_postprocess(keys, str(config))
    return post_program(table, *graph_ports(graph), _priors(config, table.priors))


def _priors(config: Path, name: str) -> Array | None:
    """The boxes of an .npz file beside the configuration, under the name `priors`."""
    if not name:
        return None
    path = config.parent / name
    found = need(read_npz(path, ("priors",)), "priors", str(path))
    if found.dtype.kind != "f" or found.ndim != 2 or not np.isfinite(found).all():
        said = f"{name}: priors is {found.dtype}{list(found.shape)}, not real numbers [boxes, 4]"
        raise PostprocessValueBad(said, where=f"{config}, postprocess.priors")
    return found


def decoder_of(config: Path, graph: Graph) -> Decoder | None:
    """What makes sense of the outputs that any engine gives; None without a table."""
    program = table_program(config, graph)
    return None if program is None else Decoder(program, graph_ports(graph)[1])


def with_postprocess(compiled: Compiled, config: Path, options: Options) -> Compiled:
    """The same project with NAME_postprocess.h and .c; as it is where the file has no such table.

    Raises:
        CompileError: the ids of `table_program`.
    """
    program = table_program(config, compiled.graph)
    if program is None:
        return compiled
    return written_with(compiled, replace(compiled.emit, post=program), {"postprocess": _record(program)}, options)


def _record(program: PostProgram) -> dict[str, Any]:
    """The manifest's record."""
    return {
        "decode": program.decode,
        "most": program.most,
        "state_bytes": program.state_bytes,
        "members": [{"name": m.name, "ctype": m.ctype, "count": m.count} for m in program.members],
        "table": list(program.said),
    }


def found_on_host(net: Network, feeds: Iterable[Mapping[str, Array]], others: Iterable[list[Array]]) -> Iterator[Pair]:
    """Outputs of each sample and then other ones, and what the C finds in them."""
    from codegen.host.postprocess import HostPostprocess

    there = HostPostprocess(net)
    for feed in feeds:
        yield net.run_raw(feed), there.found()
    for arrays in others:
        yield there.of(arrays)


def found_on_board(compiled: Compiled, outputs: Iterable[Mapping[str, Array]], said: Iterable[bytes]) -> Iterator[Pair]:
    """The same of a board, from what it printed."""
    from codegen.host.postprocess import read_found

    order: Literal["<", ">"] = "<" if compiled.target.byte_order == "little" else ">"
    record: Any = compiled.manifest["postprocess"]
    for held, state in zip(outputs, said, strict=True):
        yield held, read_found(record, np.frombuffer(state, np.uint8), order)


def check_found(compiled: Compiled, pairs: Iterable[Pair], where: str) -> FoundCheck:
    """Whether the C finds in outputs what golden does."""
    assert compiled.emit.post is not None, "it was compiled with one"
    golden, outputs, count, difference = Decoder(compiled.emit.post, graph_ports(compiled.graph)[1]), 0, 0, None
    for held, found in pairs:
        wanted = golden.run_raw(held)
        outputs, count = outputs + 1, count + len(next(iter(wanted.values())))
        difference = _difference(wanted, found)
        if difference is not None:
            break
    return FoundCheck(
        equal=difference is None,
        where=where,
        decode=compiled.emit.post.decode,
        outputs=outputs,
        found=count,
        first_difference=difference,
    )


def random_outputs(graph: Graph, seed: int, count: int) -> Iterable[list[Array]]:
    """Outputs whose quantized numbers are each as likely as any other; floats are normal."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield [_drawn(port, rng) for port in graph_ports(graph)[1]]


def _drawn(port: PortSpec, rng: np.random.Generator) -> Array:
    if port.dtype.is_float:
        return rng.standard_normal(port.shape).astype(np.float32)
    return rng.integers(port.dtype.low, port.dtype.high, port.shape, endpoint=True).astype(port.dtype.numpy)


def _difference(golden: Found, made: Mapping[str, Array]) -> Difference | None:
    pairs = ((f"{name}, of what was found", array, made[name]) for name, array in golden.items())
    return next((d for d in (first_difference(*pair) for pair in pairs) if d is not None), None)
