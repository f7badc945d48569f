"""What the site shows beside docs/: files elsewhere in the repository that its pages link to, under their own paths.

Decides: that a link which leads out of docs/ leads to the same file in the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
_DOCS = "docs/"
_LINK = re.compile(r"(\]\()(?!https?://|#|mailto:)([^)\s#]+)")


def on_files(files: Files, *, config: Any) -> Files:
    """The pages' own files, and those elsewhere that they link to, and these in turn."""
    waiting = [_DOCS + f.src_uri for f in files.documentation_pages()]
    while waiting:
        page = waiting.pop()
        text = (ROOT / page).read_text(encoding="utf-8")
        for path in {_repository(page, found[2]) for found in _LINK.finditer(text)}:
            if not path.startswith(_DOCS) and (ROOT / path).is_file() and files.get_file_from_path(path) is None:
                added = File.generated(config, path, abs_src_path=str(ROOT / path))
                added.inclusion = InclusionLevel.NOT_IN_NAV
                files.append(added)
                waiting += [path] if path.endswith(".md") else []
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Links lead where the files are in the site."""
    here = page.file.src_uri
    source = here if page.file.generated_by is not None else _DOCS + here

    def led(found: re.Match[str]) -> str:
        path = _repository(source, found[2]).removeprefix(_DOCS)
        return found[1] + posixpath.relpath(path, posixpath.dirname(here) or ".")

    return _LINK.sub(led, markdown)


def _repository(page: str, link: str) -> str:
    """Where a page's link leads in the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
