"""Fuzzes the readers: guided by coverage where atheris is installed, else by drawing.

    python -m tests.fuzz                              every reader, 5,000 runs each
    python -m tests.fuzz --reader onnx --runs 100000 --seed 3
    python -m tests.fuzz --engine draw                without atheris: each file is mutated on its own

An input that a reader neither accepts nor refuses with an id, or on which it takes more than 20 s or 3 GB, is written
to `--artifacts`; put it into `tests/fuzz/crashes/READER/`, where `test_crashes.py` replays it for ever.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from pathlib import Path

from codegen.process import run_program
from tests.fuzz.readers import READERS
from tests.support.shared import ROOT


def main() -> int:
    """Every reader in a process of its own; 1 when one found a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--reader", choices=sorted(READERS), action="append", help="only these; all by default")
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=["guided", "draw"], help="by default guided, where atheris is installed")
    parser.add_argument("--artifacts", type=Path, default=Path("build/fuzz"), help="folder for inputs that are faults")
    given = parser.parse_args()
    engine = given.engine or ("guided" if importlib.util.find_spec("atheris") else "draw")
    given.artifacts.mkdir(parents=True, exist_ok=True)
    failed = [
        reader
        for reader in given.reader or READERS
        if not _campaign(engine, reader, given.runs, given.seed, given.artifacts.resolve())
    ]
    return int(bool(failed))


def _campaign(engine: str, reader: str, runs: int, seed: int, artifacts: Path) -> bool:
    """One reader's runs; False after a fault."""
    argv = [sys.executable, "-m", f"tests.fuzz.{engine}", reader, str(runs), str(seed), str(artifacts)]
    done = run_program(argv, cwd=ROOT, timeout_s=24 * 3600)
    said = done.stderr.decode("utf-8", "replace")
    found = re.findall(r"^#(\d+).* cov: (\d+) .* corp: (\d+)", said, re.MULTILINE)
    drawn = done.stdout.decode("utf-8", "replace").strip()
    print(f"{reader}: {_coverage(*found[-1]) if found else drawn}", flush=True)
    if done.returncode:
        print(said[-6000:], file=sys.stderr)
    return done.returncode == 0


def _coverage(runs: str, places: str, kept: str) -> str:
    return f"{runs} files guided by coverage, {places} places of the code reached, {kept} files kept as different"


if __name__ == "__main__":
    sys.exit(main())
