"""Options that might bring a network onto a chip whose memories it does not fit: tried, and what came of it.

Decides: the input comes row by row where working memory lacks, weights lie outside the image where flash lacks, and
both where both do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.errors import ArenaLimitUnreachable, ArenaTooSmall, FlashTooSmall
from codegen.options import Options
from codegen.records import record
from codegen.toolkit import Toolkit
from codegen.verbs.inspect import inspect
from codegen.verbs.inspection import Inspection, Violation
from codegen.verbs.sources import ModelSource

_ARENA = {ArenaTooSmall.code, ArenaLimitUnreachable.code}
_FLASH = {FlashTooSmall.code}


@record(kw_only=True)
class Try:
    """The network on a target with other options, as the command line spells them, and what is in the way still."""

    target: str
    flags: tuple[str, ...]
    supported: bool
    arena_bytes: int | None
    violations: tuple[Violation, ...]


def tries(model: ModelSource, options: Options, looks: Sequence[Inspection], toolkit: Toolkit) -> Iterator[Try]:
    """One for each target that lacks nothing but memory."""
    for look in looks:
        broken = {v.id for v in look.violations}
        if not broken or broken - _ARENA - _FLASH:
            continue
        asked, flags = replace(options, target=look.target), []
        if broken & _ARENA and not asked.stream_input:
            asked, flags = replace(asked, stream_input=True), ["--stream-input"]
        if broken & _FLASH and asked.weights != "blob":
            asked, flags = replace(asked, weights="blob"), [*flags, "--weights", "blob"]
        if flags:
            found = inspect(model, asked, toolkit=toolkit)
            yield Try(
                target=look.target,
                flags=tuple(flags),
                supported=found.supported,
                arena_bytes=found.arena_bytes,
                violations=found.violations,
            )
