"""Many small graphs compiled as one network, whose C gives what golden does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.passes import simplify
from tests.contract.test_kernels import make_project
from tests.support.node_graphs import prefixed, side_by_side


def check_c_is_golden(
    graphs: Sequence[Graph], feeds: Sequence[Mapping[str, Array]], folder: Path, flags: Sequence[str] = ("-O0",)
) -> None:
    """Each graph on its own inputs, to the bit."""
    together = side_by_side([prefixed(simplify(graph), f"{i}/") for i, graph in enumerate(graphs)])
    given = {f"{i}/{name}": x for i, fed in enumerate(feeds) for name, x in fed.items()}
    golden = run_graph(together, given)
    with Network(make_project(together, folder, "c99"), compiler="gcc", flags=list(flags)) as network:
        actual = network.run_raw(given)
    for port in together.outputs:
        assert golden[port.value].tobytes() == actual[port.value].tobytes(), port.name
