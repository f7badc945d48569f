"""What a compilation may be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What a compilation may be told.

    `requant` None means the arithmetic of the model's own format, or else the target's default; `optimize` None what
    the target says; `name` None the file's name.
    """

    target: str = "host"
    requant: str | None = None
    weights: str = "c"
    io_layout: str = "nhwc"
    io_type: str = "quantized"
    name: str | None = None
    vectors: int = 2
    optimize: str | None = None
    arena_limit: int | None = None
    stream_input: bool = False
