"""MicroPython: a user module in a folder of its own, all files side by side."""

from __future__ import annotations

from codegen.emit.packages.packaged import Packaged
from codegen.errors import PackageUnfit

_CODES = {"int8_t": "b", "uint8_t": "B", "int16_t": "h", "int32_t": "i", "float": "f"}


def files(project: Packaged) -> dict[str, bytes]:
    """micropython/NAME/; LAM-EMIT-008 for a streamed input, weights in a file, or several memories."""
    view = project.view
    if view.stream:
        raise PackageUnfit("its input is streamed (--stream-input)", where="micropython")
    if view.form.blob:
        hint = "leave out --weights blob or the buffer: a module is part of the image, and so are its weights"
        raise PackageUnfit("weights are a file of their own", where="micropython", hint=hint)
    if any(region.given for region in view.regions):
        hint = "leave it out of --package, or compile without --input-outside"
        raise PackageUnfit("its input lies outside the arena (--input-outside)", where="micropython", hint=hint)
    if view.regions:
        raise PackageUnfit("it works in several memories", where="micropython")
    folder = f"micropython/{view.name}"
    sources = project.flat(folder)
    names = sorted(path.rpartition("/")[2] for path in sources if path.endswith(".c"))
    return {
        f"{folder}/micropython.mk": project.spelled("micropython/micropython.mk.j2", sources=names),
        f"{folder}/micropython.cmake": project.spelled("micropython/micropython.cmake.j2", sources=names),
        f"{folder}/mod_{view.name}.c": project.spelled("micropython/module.c.j2", codes=_CODES),
        **sources,
    }
