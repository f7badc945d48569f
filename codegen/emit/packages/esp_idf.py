"""ESP-IDF: a component, and an example.  The project's CMakeLists.txt registers it where ESP-IDF reads it."""

from __future__ import annotations

from codegen.emit.packages.packaged import Packaged

_FILES = {
    "idf_component.yml": "idf_component.yml.j2",
    "examples/selftest/CMakeLists.txt": "example_CMakeLists.txt.j2",
    "examples/selftest/main/CMakeLists.txt": "main_CMakeLists.txt.j2",
    "examples/selftest/main/main.c": "main.c.j2",
}


def files(project: Packaged) -> dict[str, bytes]:
    """idf_component.yml and examples/selftest/, with a partition where weights are a file."""
    found = {path: project.spelled(f"esp_idf/{template}") for path, template in _FILES.items()}
    if project.view.form.blob:
        size = -(-project.view.blob_bytes // _MAPPED) * _MAPPED
        found["examples/selftest/partitions.csv"] = project.spelled("esp_idf/partitions.csv.j2", bytes=f"{size:#x}")
        found["examples/selftest/sdkconfig.defaults"] = project.spelled("esp_idf/sdkconfig.defaults.j2")
    return found


_MAPPED = 64 * 1024
"""Bytes of a page as the cache maps them."""
