"""Float models of one recurrence as ONNX files, in whatever form the operator has."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from onnx import helper

from tests.support.onnx_files import onnx_model, port

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STATES = {"LSTM": ("h", "c"), "GRU": ("h",), "RNN": ("h",)}


@dataclass(frozen=True)
class Recurrence:
    """An LSTM, GRU or RNN; `first` says where its first states come from: nowhere, constants, or inputs."""

    kind: str
    direction: str = "forward"
    steps: int = 4
    batch: int = 1
    entries: int = 5
    hidden: int = 6
    first: str = ""
    peepholes: bool = False
    lengths: tuple[int, ...] = ()
    shown: tuple[int, ...] = (0, 1)
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def state_shape(self) -> list[int]:
        """Of a first or last state."""
        directions = 1 + (self.direction == "bidirectional")
        swapped = self.attributes.get("layout")
        return [self.batch, directions, self.hidden] if swapped else [directions, self.batch, self.hidden]

    @property
    def x_shape(self) -> list[int]:
        """Of the sequence."""
        first = [self.batch, self.steps] if self.attributes.get("layout") else [self.steps, self.batch]
        return [*first, self.entries]

    def write(self, path: Path, seed: int = 0) -> Path:
        """The model's file: x, perhaps h0 and c0, and the outputs `shown`, y0 for all h, then the last states."""
        rng = np.random.default_rng(seed)
        directions, rows = 1 + (self.direction == "bidirectional"), GATES[self.kind] * self.hidden
        known = {
            "w": rng.normal(0, 0.5, (directions, rows, self.entries)),
            "r": rng.normal(0, 0.5, (directions, rows, self.hidden)),
            "b": rng.normal(0, 0.3, (directions, 2 * rows)),
        }
        ports, names = [port("x", self.x_shape)], ["x", "w", "r", "b", "lengths" if self.lengths else ""]
        for state in STATES[self.kind] if self.first else ():
            names.append(f"{state}0")
            if self.first == "inputs":
                ports.append(port(f"{state}0", self.state_shape))
            else:
                known[f"{state}0"] = rng.uniform(-0.8, 0.8, self.state_shape)
        if self.peepholes:
            names += [""] * (7 - len(names)) + ["p"]
            known["p"] = rng.normal(0, 0.5, (directions, 3 * self.hidden))
        outputs = [f"y{i}" if i in self.shown else "" for i in range(1 + len(STATES[self.kind]))]
        given = {"direction": self.direction, "hidden_size": self.hidden, **self.attributes}
        node = helper.make_node(self.kind, names, outputs, name="recurrence", **given)
        made = {name: array.astype(np.float32) for name, array in known.items()}
        if self.lengths:
            made["lengths"] = np.array(self.lengths, np.int32)
        model = onnx_model([node], ports, [port(o) for o in outputs if o], made, name="net")
        path.write_bytes(model.SerializeToString())
        return path

    def samples(self, count: int, seed: int = 1) -> dict[str, np.ndarray]:
        """Random sequences, and random first states where these are inputs."""
        rng = np.random.default_rng(seed)
        made = {"x": rng.normal(0, 1, (count, *self.x_shape))}
        for state in STATES[self.kind] if self.first == "inputs" else ():
            made[f"{state}0"] = rng.uniform(-0.9, 0.9, (count, *self.state_shape))
        return {name: array.astype(np.float32) for name, array in made.items()}
