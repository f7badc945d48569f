"""Bank conflicts of scratchpads, by addresses that know no banks and by those that do.  README.md has the columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.tables import print_markdown  # noqa: E402
from codegen.pipeline import Compiled, Options, compile_graph, read_model  # noqa: E402
from codegen.prove import bank_conflicts  # noqa: E402
from codegen.target import load_target  # noqa: E402
from tests.support.real import model_path  # noqa: E402

CHIP = "sophgo-like"
NAMES = ("resnet8_qdq", "vww_qdq", "kws_qdq", "ad_qdq")
SIZES = ((1 << 24, 16), (1 << 17, 8), (1 << 16, 16))
"""Bytes of scratchpad, and its banks."""
HEAD = ("network", "scratchpad B", "banks", "calls", "plain: used B", "conflicts", "by banks: used B", "conflicts")


def rows() -> Iterator[tuple[str, ...]]:
    """One line per network and memory."""
    for name in NAMES:
        for size, banks in SIZES:
            numbers: list[int] = []
            for known in (1, banks):
                made = compile_for(name, size, known)
                scratchpad = made.program.scratchpad
                assert scratchpad is not None
                calls = sum(work.calls for work in made.shadow.work.values())
                numbers += [scratchpad.bytes, bank_conflicts(replace(scratchpad, bank_bytes=size // banks)) or 0]
            yield name, *(f"{n:,}" for n in (size, banks, calls, *numbers))


def compile_for(name: str, size: int, banks: int) -> Compiled:
    """A network for the chip with so much scratchpad in so many banks."""
    chip = load_target(CHIP)
    memories = (replace(m, bytes=size, banks=banks) if m.kind == "scratchpad" else m for m in chip.memories)
    target, options = replace(chip, memories=tuple(memories)), Options(target=CHIP, vectors=0)
    return compile_graph(read_model(model_path(name), options, target), target, options)


def main() -> None:
    """Compile, and print a table."""
    print_markdown(HEAD, rows())


if __name__ == "__main__":
    main()
