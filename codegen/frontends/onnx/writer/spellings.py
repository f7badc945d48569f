"""The table of spellings: which function writes which operator of a RealGraph as nodes of ONNX, family by family."""

from __future__ import annotations

from codegen.frontends.onnx.writer import elementwise, movement, others, storage, windows
from codegen.frontends.onnx.writer.writing import Table

FAMILIES: tuple[Table, ...] = (
    elementwise.SPELLINGS,
    movement.SPELLINGS,
    others.SPELLINGS,
    storage.SPELLINGS,
    windows.SPELLINGS,
)
"""What each family writes; no two of them write one operator."""

SPELLINGS: Table = {kind: write for family in FAMILIES for kind, write in family.items()}
