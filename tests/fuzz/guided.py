"""Runs of one reader guided by coverage: `python -m tests.fuzz.guided READER RUNS SEED ARTIFACTS`.

libFuzzer, through atheris, keeps each mutant that reaches new branches of the compiler's Python and goes on from there.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import atheris

_GUIDE = ["codegen.frontends", "codegen.ops", "codegen.passes", "codegen.preprocess", "codegen.target"]

with atheris.instrument_imports(include=_GUIDE):
    from tests.fuzz.readers import read

from tests.fuzz.mutators import MUTATORS  # noqa: E402
from tests.fuzz.seeds import seeds  # noqa: E402

_LONGEST_S = 20
_MEMORY_MB = 3000
_LARGEST = 400_000


def main(reader: str, runs: int, seed: int, artifacts: Path) -> None:
    """Fuzz; libFuzzer ends the process with another code than 0 after a fault, whose file it keeps."""
    known = seeds(reader)

    def one(data: bytes) -> None:
        read(reader, data)

    def change(data: bytes, largest: int, number: int) -> bytes:
        changed = MUTATORS[reader](random.Random(number), data, known)
        return changed if len(changed) <= largest else data

    with tempfile.TemporaryDirectory(prefix="lamina-fuzz-") as corpus:
        for i, data in enumerate(known):
            (Path(corpus) / f"{i:04}").write_bytes(data)
        options = {
            "runs": runs + len(known),
            "seed": seed,
            "timeout": _LONGEST_S,
            "rss_limit_mb": _MEMORY_MB,
            "max_len": _LARGEST,
            "artifact_prefix": f"{artifacts}/{reader}-",
            "print_final_stats": 1,
        }
        atheris.Setup(
            [sys.argv[0], *(f"-{key}={value}" for key, value in options.items()), corpus], one, custom_mutator=change
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
