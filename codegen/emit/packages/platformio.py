"""PlatformIO: a library in a folder of its own, all files side by side, and an example."""

from __future__ import annotations

from codegen.emit.packages.packaged import Packaged


def files(project: Packaged) -> dict[str, bytes]:
    """platformio/NAME/: library.json, src/, examples/."""
    folder = f"platformio/{project.view.name}"
    return {
        f"{folder}/library.json": project.spelled("platformio/library.json.j2"),
        f"{folder}/examples/selftest/platformio.ini": project.spelled("platformio/platformio.ini.j2"),
        f"{folder}/examples/selftest/src/main.c": project.spelled("platformio/main.c.j2"),
        **project.flat(f"{folder}/src"),
    }
