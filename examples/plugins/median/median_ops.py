"""A plug-in: MedianRows, the median of each element with those above and below it.

    lamina compile median.onnx --plugin median_ops.py -t cortex-m4 -o build/median
    lamina plugin test median_ops.py

It is one operator with two pieces of C: a header with a function for chips with DSP instructions (Cortex-M4), four
elements at a time, and a template of plain C99 for all others.  docs/plugins.md explains each line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.plugin import (
    Array,
    C,
    Case,
    DType,
    NodeOf,
    Operator,
    Plugin,
    RowRule,
    TensorType,
    Types,
    batch_one,
    feature_map,
    never_in_place,
    no_macs,
    types_among,
)


@dataclass(frozen=True, slots=True)
class MedianRows:
    """The median of each element with those some rows above and below it; beyond the border it stands in for them."""

    reach: int

    limits = (
        batch_one("MEDIAN-01"),
        types_among("MEDIAN-02", 0, "the input", (DType.S8, DType.F32)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The type of the output is that of the input: the same numbers, in other places."""
        return (feature_map(self, ins),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The definition, to the bit; the C is compared with it."""
        x = ins[0]
        rows = np.arange(x.shape[1])
        above = np.where(rows >= self.reach, rows - self.reach, rows)
        below = np.where(rows + self.reach < len(rows), rows + self.reach, rows)
        a, b, c = x[:, above], x, x[:, below]
        low, high = np.where(a < b, a, b), np.where(a < b, b, a)
        middle = np.where(high < c, high, c)
        return (np.where(low > middle, low, middle),)  # as the C compares, so that NaN ends up in the same place

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row r of the output reads rows r - reach, r and r + reach: null pointers where there is none."""
        return RowRule(taps=3, pad=self.reach, dilation=self.reach)

    macs = no_macs
    in_place = never_in_place


def numbers(node: NodeOf[MedianRows]) -> dict[str, int]:
    """What the C is written with: elements of a row."""
    _, _, columns, channels = node.ins[0].shape
    return {"count": columns * channels}


def bytes_only(node: NodeOf[MedianRows]) -> dict[str, int] | None:
    """The C for DSP instructions is for bytes."""
    return numbers(node) if node.ins[0].dtype is DType.S8 else None


def cases() -> Iterator[Case]:
    """What the laws are tried on: odd and even sizes, one row, more reach than rows."""
    for i, (height, width, channels, reach) in enumerate(((7, 5, 3, 1), (1, 4, 1, 1), (6, 1, 9, 2), (3, 2, 2, 5))):
        yield Case(f"map{i}", MedianRows(reach), (TensorType((1, height, width, channels), DType.S8),))
    yield Case("real", MedianRows(1), (TensorType((1, 5, 3, 2), DType.F32),))


PLUGIN = Plugin(
    name="median",
    operators=(
        Operator(
            kind=MedianRows,
            onnx="example.median::MedianRows",
            images=True,
            c=(
                C(file="median_dsp.h", call="median_dsp", fit=bytes_only, needs=("dsp",)),
                C(file="median.c.j2", fit=numbers),
            ),
            cases=cases,
        ),
    ),
)
