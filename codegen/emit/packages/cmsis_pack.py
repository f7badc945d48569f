"""CMSIS-Pack: the description, an example for the CMSIS-Toolbox, and the pack itself."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from codegen.emit.packages.packaged import Packaged
from codegen.target import plain_level

_CORES = {"armv6m": "ARMCM0P", "armv7m": "ARMCM3", "armv7em": "ARMCM4"}
_OTHER = {"armv81m_mve": "ARMCM55"}
_BEGIN = (1980, 1, 1, 0, 0, 0)
_CONTENT = ("src/", "include/", "runtime/", "test/selftest.c", "weights.bin")
_EXAMPLE = ("README.md", "selftest.csolution.yml", "selftest.cproject.yml", "main.c")


def files(project: Packaged) -> dict[str, bytes]:
    """lamina.NAME.pdsc, cmsis/selftest/, and lamina.NAME.VERSION.pack with all that they name."""
    view = project.view
    content = {path: data for path, data in project.files.items() if path.startswith(_CONTENT)}
    weights = project.blob("cmsis/weights")
    pdsc = f"lamina.{view.name}.pdsc"
    device = {**_CORES, **_OTHER}.get(plain_level(view.form.isa), "ARMCM0P")
    found = {f"cmsis/selftest/{name}": project.spelled(f"cmsis_pack/{name}.j2", device=device) for name in _EXAMPLE}
    found |= weights
    found[pdsc] = project.spelled("cmsis_pack/pack.pdsc.j2", paths=tuple(sorted(content)))
    found[f"lamina.{view.name}.{view.package_version}.pack"] = _zipped({**content, **found})
    return found


def _zipped(content: Mapping[str, bytes]) -> bytes:
    """The archive; the same content gives the same bytes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(content):
            entry = zipfile.ZipInfo(path, _BEGIN)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, content[path])
    return data.getvalue()
