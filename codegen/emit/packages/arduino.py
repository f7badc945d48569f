"""Arduino: a library in a folder of its own, all files side by side in src/, and an example sketch."""

from __future__ import annotations

from codegen.emit.packages.packaged import Packaged


def files(project: Packaged) -> dict[str, bytes]:
    """arduino/NAME/: library.properties, src/, examples/."""
    folder = f"arduino/{project.view.name}"
    return {
        f"{folder}/library.properties": project.spelled("arduino/library.properties.j2"),
        f"{folder}/examples/selftest/selftest.ino": project.spelled("arduino/selftest.ino.j2"),
        **project.flat(f"{folder}/src"),
    }
