"""What NAME_helpers.h and NAME_info.c say: everything that is spelled from names and texts of the model or of the user.

The other C files hold no such text outside of comments, so that they are the same code whatever a model calls things.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codegen.emit.context import EmitOptions, ModelView
from codegen.emit.interface import PortView
from codegen.emit.names import PORT_MACROS, c_string, port_symbols
from codegen.errors import LabelsMisfit
from codegen.ir.labels import numbers_of, own_labels
from codegen.ir.program import Port, Program
from codegen.records import record

_LIMITS = {"int8_t": ("INT8_MIN", "INT8_MAX"), "uint8_t": ("0", "UINT8_MAX"), "int16_t": ("INT16_MIN", "INT16_MAX")}
"""The least and the greatest number of the types that QuantizeLinear gives."""
_OF_ROWS = ("ROWS", "ROW_BYTES")
_OF_QUANTIZED = ("SCALE", "ZERO_POINT")


@record
class PortHelpers:
    """One input or output: its name in macros and as text, the macros that it has, and what its numbers are.

    `low` and `high` spell what a quantized number is limited to, empty where no real number stands behind it;
    `labels` are literals.
    """

    view: PortView
    symbol: str
    text: str
    macros: tuple[str, ...]
    low: str
    high: str
    labels: tuple[str, ...]


@record(kw_only=True)
class Helpers:
    """All texts are literals of C."""

    model: str
    model_sha256: str
    model_version: str
    tool_version: str
    target: str
    requant: str
    inputs: tuple[PortHelpers, ...]
    outputs: tuple[PortHelpers, ...]
    layers: tuple[str, ...]
    weights_bytes: int

    @property
    def quantized(self) -> bool:
        """Whether a real number becomes another, or one becomes real, at the border."""
        return any(port.low for port in (*self.inputs, *self.outputs))


def helpers_of(program: Program, view: ModelView, options: EmitOptions, manifest: Mapping[str, Any]) -> Helpers:
    """The texts and the ports; LAM-EMIT-006 for labels that no output has numbers for."""
    labels = options.labels or own_labels(program.outputs, program.labels)
    labelled = _labelled(program.outputs, labels)
    outputs = _ports(program.outputs, view.outputs, streamed=False)
    return Helpers(
        model=c_string(manifest["model"]),
        model_sha256=c_string(manifest["model_sha256"]),
        model_version=c_string(options.model_version),
        tool_version=c_string(options.version),
        target=c_string(manifest["target"]),
        requant=c_string(manifest["requant"]),
        inputs=_ports(program.inputs, view.inputs, streamed=view.stream is not None),
        outputs=tuple(_with_labels(p, labels if i == labelled else ()) for i, p in enumerate(outputs)),
        layers=tuple(c_string(layer["name"]) for layer in manifest["layers"]),
        weights_bytes=manifest["weights_bytes"],
    )


def _labelled(outputs: Sequence[Port], labels: Sequence[str]) -> int | None:
    """Which output the labels are of: the first one whose last axis has as many numbers."""
    if not labels:
        return None
    sizes = numbers_of(outputs)
    if len(labels) not in sizes:
        raise LabelsMisfit(f"there are {len(labels)}; the outputs have {', '.join(map(str, sizes))} numbers")
    return sizes.index(len(labels))


def _ports(ports: Sequence[Port], views: Sequence[PortView], *, streamed: bool) -> tuple[PortHelpers, ...]:
    symbols = port_symbols([port.name for port in ports])
    return tuple(_port(p, v, s, streamed) for p, v, s in zip(ports, views, symbols, strict=True))


def _port(port: Port, view: PortView, symbol: str, streamed: bool) -> PortHelpers:
    absent = (() if streamed else _OF_ROWS) + (() if view.scale else _OF_QUANTIZED)
    real = view.scale and port.model_dtype == "float32"
    low, high = _LIMITS.get(view.ctype, ("", "")) if real else ("", "")
    macros = tuple(name for name in PORT_MACROS if name not in absent)
    return PortHelpers(view, symbol, c_string(port.name), macros, low, high, ())


def _with_labels(port: PortHelpers, labels: Sequence[str]) -> PortHelpers:
    literals = tuple(map(c_string, labels))
    return PortHelpers(port.view, port.symbol, port.text, port.macros, port.low, port.high, literals)
