"""What a weight blob and the code that reads it must have in common.

The structure is taken from the code itself: the layer functions, the schedule and the runtime headers, without
comments and whatever the network is called, with the place and the type of every array in the blob.  So nothing that
code assumes can be missing: shapes, kernels, packing, offsets, requantization, padding, memory.  What training decides
is in the blob, and not in the code; where it decides a kernel (a layer whose weights allow a shorter one) the code
differs, and so does the structure.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from codegen.emit.blob import Fit
from codegen.emit.context import EmitOptions, ModelView, build_view
from codegen.emit.interface import PortView
from codegen.emit.render import source_texts
from codegen.emit.runtime import header_closure
from codegen.ir.program import Program

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def code_fit(program: Program, options: EmitOptions) -> Fit:
    """What the code of a program expects of its blob."""
    nothing = Fit(bytes(12), bytes(4))
    view = build_view(replace(program, name="net"), replace(options, version="", options=""), nothing)
    sources = source_texts(view, options.roots)
    texts = {**sources, **header_closure(sources.values(), options.roots)}
    spelled = [" ".join([path, *without_comments(text).split()]) for path, text in sorted(texts.items())]
    return Fit(_digest([*spelled, *_sections(view), options.isa, options.byte_order])[:12], _interface(view))


def without_comments(text: str) -> str:
    """A file of C without what is no code."""
    return _COMMENT.sub(" ", text)


def _sections(view: ModelView) -> list[str]:
    """Every array of the blob: where it lies, and of what."""
    return [
        f"{params.offset} {array.offset} {array.name} {array.ctype} {array.count}"
        for params in view.params
        for array in params.arrays
    ]


def _interface(view: ModelView) -> bytes:
    ports = [(kind, port) for kind, all_of in (("in", view.inputs), ("out", view.outputs)) for port in all_of]
    return _digest([f"{kind} {_port(port)}" for kind, port in ports])[:4]


def _port(port: PortView) -> str:
    return f"{port.ctype} [{port.shape}] {port.scale} {port.zero_point}"


def _digest(lines: list[str]) -> bytes:
    return hashlib.sha256("\n".join(lines).encode("utf-8")).digest()
