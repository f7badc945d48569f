"""A plug-in without C of its own: Edge, half the difference of neighbours in a row, which an accelerator makes.

    lamina compile edge.onnx --plugin edge_ops.py -t cortex-m4 -o build/edge

The generated code calls `edge_edge_s8`, which the firmware defines: the header says with which arguments.  For tests
here and on emulated chips `edge_reference.h` answers it; without a reference golden would.  docs/plugins.md explains
each line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen.plugin import (
    Array,
    Case,
    DType,
    Hook,
    NodeOf,
    Operator,
    Plugin,
    Quant,
    Requant,
    TensorType,
    Types,
    apply_requant,
    batch_one,
    feature_map,
    make_requant,
    never_in_place,
    no_macs,
    same_row,
    types_among,
)


@dataclass(frozen=True, slots=True)
class Edge:
    """Half of what the pixel to the right has more than that to the left; the border repeats itself."""

    step: Requant | None = None
    """From differences of integers to the output's; None on real numbers."""
    quant: Quant | None = None

    limits = (
        batch_one("EDGE-01"),
        types_among("EDGE-02", 0, "the input", (DType.S8,)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The same shape, in the output's own scale."""
        return (replace(feature_map(self, ins), quant=self.quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The definition on integers, to the bit."""
        assert self.step is not None
        return (apply_requant(self.step, self._difference(ins[0].astype(np.int64)), DType.S8),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The definition on real numbers."""
        return (self._difference(ins[0]) * np.float32(0.5),)

    def _difference(self, x: Array) -> Array:
        columns = np.arange(x.shape[2])
        return x[:, :, np.minimum(columns + 1, columns[-1])] - x[:, :, np.maximum(columns - 1, 0)]

    rows = same_row
    macs = no_macs
    in_place = never_in_place


def integers(op: Edge, ins: tuple[TensorType, ...], out: TensorType) -> Edge:
    """The rule of quantization: a difference in steps of the input's scale, halved, in steps of the output's."""
    assert ins[0].quant is not None
    assert out.quant is not None
    step = make_requant("single", ins[0].quant.scale, [0.5], out.quant, out.dtype)
    return replace(op, step=step, quant=out.quant)


def numbers(node: NodeOf[Edge]) -> dict[str, int]:
    """What the hook is handed."""
    step = node.op.step
    assert step is not None
    _, _, columns, channels = node.ins[0].shape
    return {
        "columns": columns,
        "channels": channels,
        "multiplier": step.multiplier[0],
        "shift": step.shift[0],
        "zero_point": step.zero_point,
    }


def cases() -> Iterator[Case]:
    """What the laws are tried on."""
    for i, (height, width, channels, scale) in enumerate(((4, 6, 3, 0.0625), (1, 1, 2, 0.0078125), (3, 2, 1, 0.25))):
        x = TensorType((1, height, width, channels), DType.S8, Quant(0.0625, 3))
        out = TensorType(x.shape, DType.S8, Quant(scale, -4))
        yield Case(f"map{i}", integers(Edge(), (x,), out), (x,))


PLUGIN = Plugin(
    name="edge",
    operators=(
        Operator(
            kind=Edge,
            onnx="example.edge::Edge",
            read=lambda node: Edge(),
            integers=integers,
            images=True,
            c=(
                Hook(
                    name="edge",
                    fit=numbers,
                    about="a row of half the differences of neighbours: (right - left) * multiplier >> shift, rounded.",
                    reference="edge_reference.h",
                    call="edge_reference",
                ),
            ),
            cases=cases,
        ),
    ),
)
