"""Runs of one reader on mutated seeds, each drawn alone: `python -m tests.fuzz.draw READER RUNS SEED ARTIFACTS`."""

from __future__ import annotations

import hashlib
import random
import resource
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.mutators import MUTATORS
from tests.fuzz.readers import read
from tests.fuzz.seeds import seeds

MEMORY_BYTES = 3 << 30
LONGEST_S = 20.0


class TooLong(BaseException):
    """A reader took longer than it may."""


def mutants(reader: str, runs: int, seed: int, start: int = 0) -> Iterator[bytes]:
    """Files start .. start + runs - 1 of a seed; each is a sound file after one to twelve changes."""
    known, mutate = seeds(reader), MUTATORS[reader]
    for index in range(start, start + runs):
        rng = random.Random(f"{reader}:{seed}:{index}")
        data = rng.choice(known)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            data = mutate(rng, data, known)
        yield data


def outcome(reader: str, data: bytes) -> tuple[str, str]:
    """What a reader says of a file, and the traceback where that is a fault."""
    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return read(reader, data), ""
    except (Exception, TooLong):
        return "fault", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _alarm(number: int, frame: object) -> None:
    raise TooLong


def main(reader: str, runs: int, seed: int, artifacts: Path) -> int:
    """Print the share of each answer; 1 after a fault, whose file is kept."""
    counts: Counter[str] = Counter()
    for data in mutants(reader, runs, seed):
        said, trace = outcome(reader, data)
        counts[said] += 1
        if trace:
            name = f"{reader}-{hashlib.sha256(data).hexdigest()[:16]}"
            (artifacts / name).write_bytes(data)
            print(f"{name}\n{trace}", file=sys.stderr)
    kinds = ", ".join(f"{name} {n}" for name, n in counts.most_common(8))
    print(f"{runs} files, {counts['fault']} faults, {len(counts)} different answers; {kinds}")
    return int(bool(counts["fault"]))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
