"""Zephyr: a module, and a sample with a thread and a work queue."""

from __future__ import annotations

from codegen.emit.packages.packaged import Packaged
from codegen.records import record
from codegen.target import plain_level

_FILES = {
    "module.yml": "module.yml.j2",
    "CMakeLists.txt": "CMakeLists.txt.j2",
    "Kconfig": "Kconfig.j2",
    "sample/CMakeLists.txt": "sample_CMakeLists.txt.j2",
    "sample/prj.conf": "prj.conf.j2",
    "sample/sample.yaml": "sample.yaml.j2",
    "sample/src/main.c": "main.c.j2",
}


@record
class Where:
    """What twister is told: the architecture, Kconfig symbols of the cores, emulated boards whose names are old."""

    arch: str
    filter: str
    boards: tuple[str, ...] = ()


_CORES = {
    "armv6m": Where("arm", ""),
    "armv7m": Where("arm", "", ("qemu_cortex_m3",)),
    "armv7em": Where("arm", "CONFIG_CPU_CORTEX_M4 or CONFIG_CPU_CORTEX_M7 or CONFIG_ARMV8_M_DSP"),
    "armv81m_mve": Where("arm", "CONFIG_ARMV8_1_M_MVEI"),
    "rv32": Where("riscv", "", ("qemu_riscv32",)),
}
"""By level: another core builds with a warning, which twister takes for an error."""


def files(project: Packaged) -> dict[str, bytes]:
    """All of zephyr/."""
    where = _CORES.get(plain_level(project.view.form.isa), Where("", "", ("qemu_cortex_m3", "qemu_riscv32")))
    found = {f"zephyr/{path}": project.spelled(f"zephyr/{template}", where=where) for path, template in _FILES.items()}
    if project.view.reads:
        found[f"zephyr/{project.view.name}_flash_map.c"] = project.spelled("zephyr/flash_map.c.j2")
    return found | project.blob("zephyr")
