"""CMake: what find_package reads, presets, a toolchain file.  Install rules are in the project's CMakeLists.txt."""

from __future__ import annotations

from codegen.emit.packages.packaged import Packaged


def files(project: Packaged) -> dict[str, bytes]:
    """cmake/NAMEConfig.cmake, CMakePresets.json, and for another chip cmake/toolchain.cmake."""
    found = {
        f"cmake/{project.view.name}Config.cmake": project.spelled("cmake/config.cmake.j2"),
        "CMakePresets.json": project.spelled("cmake/presets.json.j2"),
    }
    if project.view.form.cc:
        found["cmake/toolchain.cmake"] = project.spelled("cmake/toolchain.cmake.j2")
    return found
