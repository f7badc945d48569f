"""Finds templates/, runtime_c/, targets/ and docs/ in a checkout or in an installed wheel.

Only this module knows that a wheel carries them inside the package (see `force-include` in pyproject.toml).
"""

from __future__ import annotations

from pathlib import Path

from codegen.records import record

_PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """The folder `templates`, `runtime_c`, `targets` or `docs`, wherever it was installed."""
    installed = _PACKAGE / "_resources" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def site() -> str | None:
    """Where the documentation stands in the web, as the package's metadata says; None where it has no address."""
    from importlib.metadata import PackageNotFoundError, metadata  # slow to load, and `lamina help` alone asks

    try:
        urls = metadata("lamina").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    pages = dict(url.split(", ", 1) for url in urls)
    return pages["Documentation"].rpartition("/")[0] if "Documentation" in pages else None


@record
class PluginRoot:
    """The folder of a plug-in: `kernels/NAME/FILE` is its template FILE, and `headers` are its files of C."""

    name: str
    folder: Path
    headers: tuple[str, ...] = ()


@record
class Roots:
    """Folders laid out as `templates/` and as `runtime_c/` are; a file is taken from the first one that has it.

    Those of `plugins` are not: their files lie beside one another.
    """

    templates: tuple[Path, ...]
    runtime: tuple[Path, ...]
    plugins: tuple[PluginRoot, ...] = ()


ROOTS = Roots((resource_dir("templates"),), (resource_dir("runtime_c"),))
PLUGIN_MODULES = "lamina_plugin_"
"""How the names of modules begin that plug-ins' files become."""
ASIDE = ".lamina-writing"
"""Folder inside a project in which the next one is made ready; see codegen/emit/aside.py."""
JOURNAL = f"{ASIDE}/journal.json"
"""There while the files of a project are being moved into place: it is not whole."""
VERSION = "0.1.0"
ABI = 2
"""Number that generated sources and runtime headers agree on; a mismatch stops the C compiler."""
