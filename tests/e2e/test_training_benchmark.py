"""The benchmark of training: the digits in each scheme, for a few epochs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.shared import ROOT
from tests.support.tools import require_module

LOST = {"int8": 1.5, "w4a4": 3.0, "w2a8": 6.0, "pot": 2.0}
"""Points of the score that a few epochs may leave; docs/training.md has what twenty of them give."""


@pytest.mark.slow
def test_the_digits_are_trained_in_every_scheme() -> None:
    require_module("torch", "sklearn")
    words = ["--epochs", "6", "--no-peer", "--json"]
    run = subprocess.run(
        [sys.executable, "benchmarks/training.py", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rows = {row["scheme"]: row for row in json.loads(run.stdout)}
    for scheme, most in LOST.items():
        assert rows[scheme]["as the module"] == "yes"
        assert float(rows[scheme]["to float"]) >= -most
