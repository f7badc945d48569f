"""A project's manifest.json, read and checked as far as the code that drives a network relies on it.

A project is code that is compiled and loaded, so whoever wrote it is trusted; what is checked here is that it is whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codegen.datafiles import read_file
from codegen.errors import ProjectInvalid, ProjectUnfinished
from codegen.golden.interface import PortSpec
from codegen.ir.quant import DType
from codegen.resources import JOURNAL

MAX_MANIFEST_BYTES = 256 << 20
MAX_WEIGHTS_BYTES = 1 << 30
_LARGEST_MEMORY = 1 << 32
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def read_manifest(project: Path) -> dict[str, Any]:
    """A project's manifest; LAM-HOST-001 when the folder is not a generated project, -005 when it is not whole."""

    def refused(found: str) -> ProjectInvalid:
        return ProjectInvalid(f"no readable manifest.json: {found}", where=str(project))

    data = read_file(project / "manifest.json", MAX_MANIFEST_BYTES, refused)
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise refused(str(error)) from error
    if not isinstance(manifest, dict) or manifest.get("tool") != "lamina":
        raise ProjectInvalid("manifest.json is not one of lamina's", where=str(project))
    if (project / JOURNAL).exists():
        raise ProjectUnfinished(f"{JOURNAL} is there", where=str(project))
    try:
        problem = _problem(manifest)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        found = f"manifest.json is damaged ({type(error).__name__}: {error})"
        raise ProjectInvalid(found, where=str(project)) from error
    if problem:
        raise ProjectInvalid(f"manifest.json is damaged: {problem}", where=str(project))
    return manifest


def read_weights(project: Path, name: str) -> bytes:
    """The weights file that the manifest names; LAM-HOST-001 when it is not there."""
    return read_file(
        project / name, MAX_WEIGHTS_BYTES, lambda found: ProjectInvalid(f"{name}: {found}", where=str(project))
    )


def _problem(manifest: Mapping[str, Any]) -> str:
    """What is wrong with a manifest's values, nothing for a sound one; raises for one of another form."""
    ports = [PortSpec.read(record) for record in (*manifest["inputs"], *manifest["outputs"])]
    memories = manifest["plan"]["memories"]
    sizes = [memory["bytes"] for memory in memories] + [manifest["scratchpad_bytes"] or 0]
    aligns = [manifest["arena_align"], manifest["scratchpad_align"] or 1]
    if any(port.perm is not None and sorted(port.perm) != list(range(len(port.shape))) for port in ports):
        return "axes of an input or output"
    for tensor in manifest["tensors"]:
        DType(tensor["dtype"])
        if not all(isinstance(n, int) for n in (*tensor["shape"], tensor["row_bytes"], tensor["rows_made"])):
            return f"tensor {tensor['name']!r}"
    if not _NAME.fullmatch(manifest["name"]) or not all(_NAME.fullmatch(m["memory"]) for m in memories):
        return "a name that is none in C"
    if not memories or not all(isinstance(n, int) and 0 <= n <= _LARGEST_MEMORY for n in sizes):
        return "sizes of memories"
    if not all(isinstance(n, int) and 1 <= n <= 1 << 16 and n & (n - 1) == 0 for n in aligns):
        return "alignments"
    if not all(isinstance(n, int) and 1 <= n <= 1 << 16 for n in (manifest["cores"], manifest["stages"])):
        return "cores and stages"
    if manifest["weights_file"] not in (None, "weights.bin"):
        return "the weights' file"
    sound = all(isinstance(manifest[key], str) for key in ("target", "requant"))
    return (
        "" if ports and sound and isinstance(manifest["streamed"], bool) and manifest["states"] is not None else "keys"
    )
