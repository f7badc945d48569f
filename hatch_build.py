"""The addresses in the package's metadata: those of the site that whoever publishes it names, as LAMINA_SITE.

    LAMINA_SITE=https://docs.example.org/lamina python -m build

The pages lie where `make site` puts them; without the variable, the metadata has no address, rather than a wrong one.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PAGES = {"Documentation": "index.html", "Errors": "errors.html", "API": "api.html"}


class Addresses(MetadataHookInterface):
    """`project.urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the address of each page; ValueError where the site's is none of the web."""
        site = os.environ.get("LAMINA_SITE", "").strip().rstrip("/")
        if site and not site.startswith(("https://", "http://")):
            raise ValueError(f"LAMINA_SITE: {site!r} is not an address that begins with https://")
        metadata["urls"] = {name: f"{site}/{page}" for name, page in PAGES.items()} if site else {}
