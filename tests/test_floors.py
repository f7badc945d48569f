"""The floors of docs/architecture.md as a test: imports point down, and outside packages stay in their rooms."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "codegen"

FLOORS = {
    "errors": 0,
    "resources": 0,
    "process": 0,
    "datafiles": 0,
    "arguments": 0,
    "old_names": 0,
    "spread": 0,
    "threads": 0,
    "python_files": 0,
    "records": 0,
    "ir": 1,
    "target": 1,
    "configuration": 1,
    "options": 1,
    "fixedpoint": 1,
    "float32": 1,
    "ops": 2,
    "real": 3,
    "golden": 3,
    "prove": 3,
    "settle": 4,
    "quantizer": 4,
    "frontends": 5,
    "passes": 4,
    "schedule": 4,
    "kernels": 4,
    "lower": 5,
    "planning": 6,
    "emit": 6,
    "host": 6,
    "emulator": 6,
    "report": 6,
    "postprocess": 6,
    "preprocess": 6,
    "metrics": 6,
    "toolkit": 6,
    "train": 6,
    "plugin": 7,
    "laws": 7,
    "pipeline": 7,
    "verbs": 8,
    "api": 9,
    "build": 9,
    "cli": 10,
}
"""Floor of each room; a room may import from lower floors and from itself, never sideways."""

GROUND = {
    "errors",
    "resources",
    "process",
    "datafiles",
    "arguments",
    "old_names",
    "spread",
    "threads",
    "python_files",
    "records",
}
"""The ground floor is one hall: its rooms may know each other."""

CONFINED = {
    "jinja2": {"emit", "verbs/report"},
    "onnx": {"frontends/onnx"},
    "google": {"frontends/onnx", "frontends/caffe"},
    "tflite": {"frontends/tflite"},
    "tflite_micro": {"verbs"},
    "ai_edge_litert": {"verbs"},
    "cffi": {"host"},
    "subprocess": {"process"},
    "click": {"cli"},
    "rich": {"cli"},
    "PIL": {"preprocess"},
    "onnxruntime": {"verbs"},
    "matplotlib": {"report/plot"},
    "pycocotools": {"metrics/coco"},
    "torch": {"train"},
    "dask": {"spread"},
    "distributed": {"spread"},
    "keras": {"verbs/frameworks"},
}
"""Rooms that may import an outside package."""

FILES = sorted(p for p in PACKAGE.rglob("*.py") if p.name != "__main__.py" and "_resources" not in p.parts)


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@cache
def imports(path: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            found += [f"{module}.{alias.name}" for alias in node.names] if module == "codegen" else [module]
    return found


def test_every_room_has_a_floor() -> None:
    rooms = {room_of(p) for p in FILES} - {"__init__"}
    assert rooms <= set(FLOORS), f"rooms without a floor: {rooms - set(FLOORS)}"


def test_imports_point_downwards() -> None:
    wrong = []
    for path in (p for p in FILES if room_of(p) != "__init__"):
        room = room_of(path)
        others = {module.split(".")[1] for module in imports(path) if module.split(".")[0] == "codegen"}
        for other in others - {room}:
            if FLOORS[other] >= FLOORS[room] and not {room, other} <= GROUND:
                wrong.append(f"{path} (floor {FLOORS[room]}) imports {other} (floor {FLOORS[other]})")
    assert not wrong


def test_outside_packages_stay_in_their_rooms() -> None:
    wrong = []
    for path in FILES:
        place = str(path.relative_to(PACKAGE)).removesuffix(".py")
        for module in imports(path):
            allowed = CONFINED.get(module.split(".")[0], [place])
            if not any(place == room or place.startswith(f"{room}/") for room in allowed):
                wrong.append(f"{place} imports {module}")
    assert not wrong


def test_readers_of_models_write_no_integer_operators() -> None:
    """What becomes of an operator in integers is settled in one room, whatever format it came in."""
    found = {str(p.relative_to(PACKAGE)): imports(p) for p in FILES if room_of(p) == "frontends"}
    assert not [path for path, modules in found.items() if any(m.startswith("codegen.ops") for m in modules)]


def test_a_program_says_all_that_proving_and_emitting_need() -> None:
    """They read what a kernel said of a layer, and never ask it again."""
    for path in (p for p in FILES if room_of(p) in ("prove", "emit")):
        assert not [module for module in imports(path) if module.startswith(("codegen.kernels", "codegen.lower"))], path
