"""The drawn network: its lines pass behind no box."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from codegen.ir.quant import Array
from codegen.verbs.inspection import LayerRow
from codegen.verbs.report.pictures import Box, GraphPicture, graph_picture

STEPS = np.linspace(0, 1, 33)
BEZIER = np.stack([(1 - STEPS) ** 3, 3 * STEPS * (1 - STEPS) ** 2, 3 * STEPS**2 * (1 - STEPS), STEPS**3], axis=1)


def layer(name: str, inputs: tuple[str, ...]) -> LayerRow:
    """A layer whose output has its name."""
    return LayerRow(
        **{"name": name, "operator": "Add", "kernel": "k", "form": "", "inputs": inputs, "output": name},
        **{"in_shapes": (), "shape": (1, 4), "dtype": "s8", "rows": "", "source": (), "note": ""},
        **dict.fromkeys(("macs", "parameters", "trained_bytes", "weights_bytes", "added_bytes", "output_bytes"), 0),
        scratch_bytes=0,
    )


def drawn(rng: np.random.Generator) -> GraphPicture:
    """Of layers that read one to three of what there is, mostly of what was made last."""
    known = ["x"]
    layers = []
    for index in range(30):
        picked = {known[-1 - min(len(known) - 1, int(rng.geometric(0.4)) - 1)] for _ in range(int(rng.integers(1, 4)))}
        layers.append(layer(f"l{index}", tuple(sorted(picked))))
        known.append(f"l{index}")
    return graph_picture(layers, ["x"], {})


def points(path: str) -> Iterator[Array]:
    """Along a line, piece by piece: M is its start, L a straight piece, C a Bezier curve."""
    here = np.zeros(2)
    for kind, said in re.findall(r"([MLC])([-\d. ]+)", path):
        corners = [here, *np.array(said.split(), float).reshape(-1, 2)]
        if kind == "M":
            here = corners[1]
            continue
        if kind == "L":
            corners = [here, *corners, corners[-1]]
        yield BEZIER @ np.array(corners)
        here = corners[-1]


def inside(points: Array, box: Box) -> bool:
    """Whether a point is farther than a pixel from a box's edges, within them."""
    low, high = np.array([box.x, box.y]) + 1, np.array([box.x + box.width, box.y + box.height]) - 1
    return bool(((low < points) & (points < high)).all(axis=1).any())


def test_no_line_passes_behind_a_box() -> None:
    rng, lines = np.random.default_rng(0), 0
    for _ in range(10):
        picture = drawn(rng)
        for edge in picture.edges:
            lines += 1
            line = np.concatenate(list(points(edge.path)))
            behind = [box.says for box in picture.boxes if inside(line, box)]
            assert not behind, f"{edge.says} passes behind {behind[0]}"
    assert lines > 300
