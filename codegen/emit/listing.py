"""manifest.json and its key `files`: every file of a project with the SHA-256 of its bytes.

By that list a new compile knows what it may replace and remove.  The manifest's own hash is that of its text with 64
zeros in the hash's place.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from codegen.errors import OutputNotOurs

MANIFEST = "manifest.json"
TOOL = "lamina"
LINKER = "lamina link"
"""What a manifest is signed with: that of a project, and that of what several projects share."""
_ZEROS = "0" * 64
_DIGEST = re.compile(r"[0-9a-f]{64}")


def with_manifest(files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files and their manifest.json, by path, and what that manifest says."""
    digests = {path: digest(data) for path, data in files.items()} | {MANIFEST: _ZEROS}
    digests = dict(sorted(digests.items()))
    listed = {**manifest, "files": digests}
    digests[MANIFEST] = digest(_text(listed))
    return dict(sorted({**files, MANIFEST: _text(listed)}.items())), listed


def _text(manifest: Mapping[str, Any]) -> bytes:
    return (json.dumps(manifest, indent=1, sort_keys=False) + "\n").encode("utf-8")


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def still_as_listed(path: str, data: bytes, listed: str) -> bool:
    """Whether a file's bytes are those that were written."""
    return digest(data.replace(listed.encode(), _ZEROS.encode()) if path == MANIFEST else data) == listed


def read_listing(folder: Path, tool: str = TOOL) -> dict[str, str] | None:
    """Hash by path of what was written into a project's folder; None for a project of a version that kept no hashes.

    Raises:
        OutputNotOurs: there is no manifest.json of this tool, or its list names what no project has.
    """
    path = folder / MANIFEST
    if path.is_symlink() or not path.is_file():
        raise _not_ours(folder)
    try:
        manifest = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        found = f"its manifest.json cannot be read ({error})"
        raise OutputNotOurs(found, where=str(folder)) from error
    if not isinstance(manifest, dict) or manifest.get("tool") != tool:
        raise _not_ours(folder)
    listed = manifest.get("files")
    if listed is None:
        return None
    if not is_listing(listed):
        raise OutputNotOurs("its manifest.json lists files that no project has", where=str(folder))
    return dict(listed)


def is_listing(listed: object) -> bool:
    """Whether this is hashes by paths that stay inside a folder."""
    return isinstance(listed, dict) and all(
        is_inside(path) and isinstance(value, str) and _DIGEST.fullmatch(value) for path, value in listed.items()
    )


def is_inside(path: str) -> bool:
    """Whether a path is spelled as those of a project are: relative, without a way up."""
    pure = PurePosixPath(path)
    return path == str(pure) and not pure.is_absolute() and not {"..", "."} & set(pure.parts) and "\0" not in path


def _not_ours(folder: Path) -> OutputNotOurs:
    names = sorted(p.name for p in folder.iterdir())
    return OutputNotOurs(f"holds {len(names)} other file(s), such as {names[0]}", where=str(folder))
