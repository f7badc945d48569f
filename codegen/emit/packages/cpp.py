"""C++: one header with a class that owns no memory, for C++17 and, with std::span, C++20."""

from __future__ import annotations

from codegen.emit.packages.packaged import Packaged


def files(project: Packaged) -> dict[str, bytes]:
    """cpp/NAME.hpp."""
    return {f"cpp/{project.view.name}.hpp": project.spelled("cpp/network.hpp.j2", type=project.type_name)}
