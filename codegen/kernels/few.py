"""Weights of few bits that the kernels of their layers store in more, and why.

Decides nothing: kernels say of their forms in how many bits they store such weights (`few_said`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.ir.quant import PACKED_BITS
from codegen.kernels.weighted import few_said

_BYTE = 8
_VECTORS = {"mve": "Helium", "x86": "vectors of x86", "neon": "vectors of AArch64"}


def few_notes(graph: Graph, kernels: Mapping[int, Form]) -> tuple[str, ...]:
    """A line for each reason for which weights take more bits than the model has them in, with the layers."""
    layers: dict[tuple[int, int, str], list[str]] = {}
    for i, form in kernels.items():
        view = graph.view(graph.nodes[i])
        for reason in _reasons(view, form):
            layers.setdefault(reason, []).append(view.name)
    return tuple(
        f"weights of {bits} bits take {stored} in {', '.join(names)}: {why}"
        for (bits, stored, why), names in layers.items()
    )


def _reasons(view: NodeView, form: Form) -> Iterator[tuple[int, int, str]]:
    """The bits of the model's weights, those in which they are stored, and why, if these are more."""
    for kind in view.ins:
        if kind.bits:
            stored = next((b for b in PACKED_BITS if few_said(b) in form.why), _BYTE * kind.dtype.bytes)
            if stored > kind.bits:
                yield kind.bits, stored, _why(form, stored, grouped=kind.block > 0)


def _why(form: Form, stored: int, *, grouped: bool) -> str:
    if grouped:
        return "their numbers are not of so few bits once what a group shares is taken out, or its sum leaves 32 bits"
    if "rvv" in form.features:
        return "kernels for RISC-V vectors read bytes"
    vectors = next((name for feature, name in _VECTORS.items() if feature in form.features), "")
    if vectors and stored < _BYTE:
        return f"with {vectors} two share a byte"
    with_what = f" with {vectors}" if vectors else ""
    return (
        "windows or layers of so few numbers, an output alone with zero points of its own, and sums and factors "
        f"as large as theirs, are computed from bytes{with_what}"
    )
