"""Rust: a no_std crate without dependencies; a build script, the C interface, and a safe wrapper."""

from __future__ import annotations

from codegen.emit.interface import PortView
from codegen.emit.packages.packaged import Packaged
from codegen.errors import PackageUnfit
from codegen.records import record

_TYPES = {"int8_t": "i8", "uint8_t": "u8", "int16_t": "i16", "int32_t": "i32", "float": "f32"}
_FILES = {
    "Cargo.toml": "Cargo.toml.j2",
    "rust/build.rs": "build.rs.j2",
    "rust/lib.rs": "lib.rs.j2",
    "rust/selftest.rs": "selftest.rs.j2",
}


@record
class RustPort:
    """One input or output as an array of Rust; `scale` is a literal, empty without one."""

    index: int
    element: str
    elements: int
    scale: str
    zero_point: int | None


def files(project: Packaged) -> dict[str, bytes]:
    """Cargo.toml and rust/; LAM-EMIT-008 for a streamed input, a buffer for weights, or several memories."""
    view = project.view
    if view.stream:
        raise PackageUnfit("its input is streamed (--stream-input)", where="rust")
    if view.reads:
        hint = "leave the buffer out: the crate takes weights that are mapped"
        raise PackageUnfit("weights are read through a buffer (--weights-buffer)", where="rust", hint=hint)
    if any(region.given for region in view.regions):
        hint = "leave it out of --package, or compile without --input-outside"
        raise PackageUnfit("its input lies outside the arena (--input-outside)", where="rust", hint=hint)
    if view.regions:
        raise PackageUnfit("it works in several memories", where="rust")
    more = {
        "inputs": tuple(map(_port, view.inputs)),
        "outputs": tuple(map(_port, view.outputs)),
        "type": project.type_name,
    }
    return {path: project.spelled(f"rust/{template}", **more) for path, template in _FILES.items()}


def _port(port: PortView) -> RustPort:
    scale = f"{port.scale.removesuffix('f')}_f32" if port.scale else ""
    return RustPort(port.index, _TYPES[port.ctype], port.elements, scale, port.zero_point)
