"""Benchmarks are run by hand: what they take from the package is there."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))


def imported(path: Path) -> list[tuple[str, str]]:
    """(module, name) of what is taken from the package."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in nodes if (node.module or "").split(".")[0] == "codegen"]
    return [(node.module or "", alias.name) for node in ours for alias in node.names]


def there_is(module: str, name: str) -> bool:
    found = importlib.import_module(module)
    return hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}") is not None


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_a_benchmark_takes_from_the_package_is_there(path: Path) -> None:
    assert [f"{module}.{name}" for module, name in imported(path) if not there_is(module, name)] == []


def test_benchmarks_take_something() -> None:
    assert sum(map(len, map(imported, BENCHMARKS))) > 50
