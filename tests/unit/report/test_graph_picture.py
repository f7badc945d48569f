"""The drawn network: its lines pass behind no box."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from codegen.verbs.inspection import LayerRow
from codegen.verbs.report.pictures import Box, GraphPicture, graph_picture

STEPS = np.linspace(0, 1, 33)
Point = tuple[float, float]


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


def points(path: str) -> Iterator[Point]:
    """Along a line: M is its start, L a straight piece, C a Bezier curve."""
    here = np.zeros(2)
    for kind, said in re.findall(r"([MLC])([-\d. ]+)", path):
        corners = [here, *np.array(said.split(), float).reshape(-1, 2)]
        if kind == "M":
            here = corners[1]
            continue
        if kind == "L":
            corners = [here, *corners, corners[-1]]
        for t in STEPS:
            weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
            x, y = sum(w * c for w, c in zip(weights, corners, strict=True))
            yield float(x), float(y)
        here = corners[-1]


def inside(point: Point, box: Box) -> bool:
    """Whether a point is farther than a pixel from a box's edges, within them."""
    return box.x + 1 < point[0] < box.x + box.width - 1 and box.y + 1 < point[1] < box.y + box.height - 1


def test_no_line_passes_behind_a_box() -> None:
    rng, lines = np.random.default_rng(0), 0
    for _ in range(10):
        picture = drawn(rng)
        for edge in picture.edges:
            lines += 1
            behind = [box.says for box in picture.boxes for p in points(edge.path) if inside(p, box)]
            assert not behind, f"{edge.says} passes behind {behind[0]}"
    assert lines > 300
