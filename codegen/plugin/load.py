"""Plug-ins by name: a Python file, or an entry point of an installed package.  Loading one runs its code.

Decides: that nothing is loaded unless it is named, and what is refused of a file that is none.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from codegen.errors import PluginBroken, PluginEmpty, PluginMissing
from codegen.plugin.joining import with_plugins
from codegen.plugin.record import Plugin
from codegen.python_files import guarded, run_python
from codegen.resources import PLUGIN_MODULES
from codegen.toolkit import HOUSE, Toolkit

PluginGiven: TypeAlias = str | Path | Plugin
"""A file, the name of an entry point, or the plug-in itself."""
GROUP = "lamina.operators"
"""Entry points of packages that bring plug-ins."""
OBJECT = "PLUGIN"
"""What the plug-in is called in its module."""


def tools_with(plugins: Sequence[PluginGiven], tools: Toolkit = HOUSE) -> Toolkit:
    """The tools, and those of the plug-ins that are named; LAM-PLUGIN-001 .. -006."""
    return with_plugins([load_plugin(given) for given in plugins], tools)


def load_plugin(given: PluginGiven) -> Plugin:
    """The plug-in that is meant."""
    if isinstance(given, Plugin):
        return given
    if not isinstance(given, str | Path):
        raise PluginMissing(f"{given!r:.60} is no name and no path", where="plugins")
    if isinstance(given, Path) or given.endswith(".py") or "/" in given or "\\" in given:
        return _of_file(Path(given))
    return _of_package(given)


def _of_file(path: Path) -> Plugin:
    if not path.is_file():
        raise PluginMissing("there is no such file", where=str(path))
    return _plugin_of(_executed(path.resolve(), str(path)), str(path))


def _executed(path: Path, where: str) -> ModuleType:
    """The module that a file is, run anew each time; a file that has changed is another module."""
    try:
        with guarded(lambda found: PluginBroken(found, where=where)):
            read = path.read_bytes()
        name = f"{PLUGIN_MODULES}{hashlib.sha256(str(path).encode() + read).hexdigest()[:12]}"
        return run_python(path, name, lambda found: PluginBroken(found, where=where))
    except PluginBroken as refused:
        cause = refused.__cause__ or refused
        raise PluginBroken(refused.found, where=_place(cause, path, where)) from cause


def _place(error: BaseException, path: Path, where: str) -> str:
    """The file, and the line of it where the error came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{where}, line {lines[-1]}" if lines else where


def _of_package(name: str) -> Plugin:
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in known:
        names = f"; there are {', '.join(sorted(known))}" if known else ", nor any other"
        raise PluginMissing(f"no installed package brings it{names}", where=name)
    return _plugin_of(_loaded(known[name]), name)


def _loaded(entry: EntryPoint) -> object:
    with guarded(lambda found: PluginBroken(found, where=entry.value)):
        return entry.load()


def _plugin_of(found: object, where: str) -> Plugin:
    """The plug-in: what was found, or what is called PLUGIN in it."""
    plugin = getattr(found, OBJECT, None) if isinstance(found, ModuleType) else found
    if plugin is None:
        raise PluginEmpty(f"nothing in it is called {OBJECT}", where=where)
    if not isinstance(plugin, Plugin):
        raise PluginEmpty(f"{OBJECT} is of type {type(plugin).__name__}", where=where)
    return plugin
