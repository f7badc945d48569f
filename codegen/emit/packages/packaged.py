"""What every package is written from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from codegen.emit.context import ModelView
from codegen.emit.render import render
from codegen.emit.spelling import array_lines
from codegen.records import record
from codegen.resources import Roots

_FLAT = ("src/", "include/", "runtime/")


@record(kw_only=True)
class Packaged:
    """A project that is put into packages: its view, and its files by path."""

    view: ModelView
    files: Mapping[str, bytes]
    roots: Roots

    @property
    def type_name(self) -> str:
        """The network's name as a type is called where words begin with capitals."""
        return "".join(word.capitalize() for word in self.view.name.split("_"))

    def spelled(self, template: str, **more: Any) -> bytes:
        """One file of a package."""
        return render(f"packages/{template}", self.roots, m=self.view, p=self, **more).encode("utf-8")

    def flat(self, folder: str) -> dict[str, bytes]:
        """Sources and headers side by side, for systems that look into one folder."""
        found = {path: data for path, data in self.files.items() if path.startswith(_FLAT)}
        found["src/selftest.c"] = self.files["test/selftest.c"]
        found |= self.blob("src")
        names = {path: path.rpartition("/")[2] for path in found}
        return {f"{folder}/{self._flat_name(name)}": found[path] for path, name in names.items()}

    def blob(self, folder: str) -> dict[str, bytes]:
        """The file of weights as an array in C, where the project has one."""
        if not self.view.form.blob:
            return {}
        lines = array_lines(np.frombuffer(self.files["weights.bin"], np.uint8))
        return {f"{folder}/{self.view.name}_blob.{s}": self.spelled(f"blob/blob.{s}.j2", lines=lines) for s in "ch"}

    def _flat_name(self, name: str) -> str:
        return f"{self.view.name}_selftest.c" if name == "selftest.c" else name


Package = Callable[[Packaged], dict[str, bytes]]
"""The files that a package adds to a project, by path."""
