"""Generated C on this machine: built with the host's compiler, bound with cffi, run on numpy arrays."""

from codegen.host.build import (
    WARNINGS,
    build_library,
    command_words,
    compiler_words,
    host_compiler,
    host_flags,
    host_regions,
    project_sources,
    run_built,
)
from codegen.host.hooks import GoldenAnswers, answered, hook_sources
from codegen.host.manifest import read_manifest
from codegen.host.network import Network

__all__ = [
    "WARNINGS",
    "GoldenAnswers",
    "Network",
    "answered",
    "build_library",
    "command_words",
    "compiler_words",
    "hook_sources",
    "host_compiler",
    "host_flags",
    "host_regions",
    "project_sources",
    "read_manifest",
    "run_built",
]
