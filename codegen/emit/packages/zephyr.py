"""Zephyr: a module, and a sample with a thread and a work queue."""

from __future__ import annotations

from codegen.emit.packages.packaged import Packaged

_FILES = {
    "module.yml": "module.yml.j2",
    "CMakeLists.txt": "CMakeLists.txt.j2",
    "Kconfig": "Kconfig.j2",
    "sample/CMakeLists.txt": "sample_CMakeLists.txt.j2",
    "sample/prj.conf": "prj.conf.j2",
    "sample/sample.yaml": "sample.yaml.j2",
    "sample/src/main.c": "main.c.j2",
}


def files(project: Packaged) -> dict[str, bytes]:
    """All of zephyr/."""
    return {f"zephyr/{path}": project.spelled(f"zephyr/{template}") for path, template in _FILES.items()}
