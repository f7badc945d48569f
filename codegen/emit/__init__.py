"""Program to files: the C project as {path: bytes}, and writing it whole or not at all."""

from codegen.emit.blob import weight_blob
from codegen.emit.context import EmitOptions, emit_options
from codegen.emit.files import check_folder, write_project
from codegen.emit.listing import LINKER
from codegen.emit.names import network_name
from codegen.emit.project import Vector, fill_pattern, project_files, selftest_crc, with_documents
from codegen.emit.render import render
from codegen.emit.selftest import selftest_vectors
from codegen.emit.sharing import shared
from codegen.emit.spelling import array_lines

__all__ = [
    "LINKER",
    "EmitOptions",
    "Vector",
    "array_lines",
    "check_folder",
    "emit_options",
    "fill_pattern",
    "network_name",
    "project_files",
    "render",
    "selftest_crc",
    "selftest_vectors",
    "shared",
    "weight_blob",
    "with_documents",
    "write_project",
]
