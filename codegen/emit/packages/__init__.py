"""The project as other build systems take it: one file per ecosystem, and the table of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.emit.context import ModelView
from codegen.emit.packages import arduino, cmake, cmsis_pack, cpp, esp_idf, micropython, platformio, rust, zephyr
from codegen.emit.packages.names import check_name
from codegen.emit.packages.packaged import Package, Packaged
from codegen.errors import PackageUnfit
from codegen.options import PACKAGES
from codegen.resources import Roots

_TABLE: Mapping[str, Package] = {
    "arduino": arduino.files,
    "cmake": cmake.files,
    "cmsis-pack": cmsis_pack.files,
    "cpp": cpp.files,
    "esp-idf": esp_idf.files,
    "micropython": micropython.files,
    "platformio": platformio.files,
    "rust": rust.files,
    "zephyr": zephyr.files,
}
_WHOLE = ("cmake", "cpp")
"""Those that take kernels that work in a scratchpad."""
assert tuple(_TABLE) == PACKAGES


def package_files(asked: Sequence[str], view: ModelView, files: Mapping[str, bytes], roots: Roots) -> dict[str, bytes]:
    """The files of all these packages; LAM-EMIT-008 for a project that one of them cannot carry."""
    project = Packaged(view=view, files=files, roots=roots)
    found: dict[str, bytes] = {}
    for name in asked:
        check_name(name, view.name)
        if name not in _WHOLE:
            _check_carried(name, view)
        found |= _TABLE[name](project)
    return found


def _check_carried(name: str, view: ModelView) -> None:
    if view.scratchpad:
        raise PackageUnfit("its kernels work in a scratchpad, and the firmware has to bring a DMA", where=name)
