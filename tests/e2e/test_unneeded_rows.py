"""Networks in which some rows, or all rows of a tensor, are needed by nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.emit import fill_pattern, write_project
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.ops import Concat, Slice
from codegen.pipeline import Compiled, Options, compile_graph
from codegen.target import load_target
from tests.support.graphs import HALF, Sketch
from tests.support.scratchpad import compile_scratchpad


def compiled(graph: Graph) -> Compiled:
    return compile_graph(graph, load_target("host"), Options(goal="memory"))


def check(made: Compiled, folder: Path) -> None:
    """The C gives golden's outputs."""
    (face,) = made.graph.inputs
    (x,) = fill_pattern(3, [made.graph.type(face.value)])
    golden = run_graph(made.graph, {face.value: x})
    write_project(folder, made.files)
    with Network(folder, trace=True, flags=("-O1",)) as net:
        outputs, _ = net.trace_raw({face.value: x})
    assert all(np.array_equal(y, golden[name]) for name, y in outputs.items())


@pytest.mark.parametrize("cores", [0, 1, 3])
def test_a_tensor_of_which_no_row_is_needed_is_never_made(cores: int, tmp_path: Path) -> None:
    """Also with a scratchpad, on one core and on several."""
    sketch = Sketch("unneeded")
    x = sketch.input((1, 12, 8, 2))
    above, below = sketch.conv(x, 16), sketch.conv(x, 16)
    both = sketch.apply(Concat(1, (None, None), DType.S8, HALF), above, below)
    cut = sketch.apply(Slice((0, 0, 0, 0), (1, 9, 8, 16), (1, 1, 1, 1)), both)
    graph = sketch.graph(sketch.conv(cut, 2))
    made = compile_scratchpad(graph, 65536, cores=cores) if cores else compiled(graph)
    assert made.shadow.rows[above] == 9
    assert made.shadow.rows[below] == 0
    check(made, tmp_path / "project")
