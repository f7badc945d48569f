"""What the self-test's log says of a project, so that whoever reads it knows whether it is of the same one.

`verify --crc` reads the log (codegen/verbs/crc_log.py); templates/selftest_log.j2 writes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from codegen.emit.blob import BLOB_HEADER_BYTES, weight_sections
from codegen.emit.context import ModelView
from codegen.emit.structure import without_comments
from codegen.ir.program import Program
from codegen.records import record

_ID_DIGITS = 16
_FOREIGN = re.compile(r"[^A-Za-z0-9._+-]+")


@record
class LoggedWeights:
    """One layer's parameters: where they begin, and how many bytes they have."""

    place: str
    bytes: int


@record(kw_only=True)
class LogView:
    """What the log's first line says, and what is counted and summed up for the others.

    `code`, `weights` and `model` are 16 hexadecimal digits each; of a blob the board says itself which it has.
    `rows` counts the rows that are made of each tensor.
    """

    code: str
    weights: str
    model: str
    about: str
    rows: tuple[int, ...]
    params: tuple[LoggedWeights, ...]

    @property
    def ids(self) -> dict[str, str]:
        """For the manifest: which code and which weights the log must be of."""
        return {"code": self.code, "weights": self.weights}


def log_view(program: Program, view: ModelView, texts: Mapping[str, str], manifest: Mapping[str, Any]) -> LogView:
    """The view of a project whose sources are `texts`."""
    about = (manifest["version"], manifest["target"], manifest["requant"])
    return LogView(
        code=code_id(texts),
        weights=weights_id(program, view.form.byte_order),
        model=manifest["model_sha256"][:_ID_DIGITS],
        about=",".join(map(log_word, about)),
        rows=tuple(tensor["rows_made"] for tensor in manifest["tensors"]),
        params=tuple(LoggedWeights(_place(view, i), p.bytes) for i, p in enumerate(program.params)),
    )


def code_id(texts: Mapping[str, str]) -> str:
    """The begin of a SHA-256 over C files, their comments left out."""
    spelled = hashlib.sha256()
    for path, text in sorted(texts.items()):
        spelled.update(f"{path}\n{without_comments(text)}".encode())
    return spelled.hexdigest()[:_ID_DIGITS]


def weights_id(program: Program, byte_order: str) -> str:
    """The weights id, as a blob of them has it."""
    return hashlib.sha256(weight_sections(program, byte_order)).hexdigest()[:_ID_DIGITS]


def log_word(text: str) -> str:
    """A text as the log has it: without commas, quotes and signs that end a line or a literal."""
    return _FOREIGN.sub("_", text)[:40] or "-"


def _place(view: ModelView, index: int) -> str:
    """Where a layer's parameters lie."""
    params = view.params[index]
    if view.reads:
        return f"{BLOB_HEADER_BYTES + params.offset}u"
    if view.form.blob:
        return f"{view.name}_selftest_weights + {BLOB_HEADER_BYTES + params.offset}"
    return f"({view.const} uint8_t *)&{params.symbol}"
