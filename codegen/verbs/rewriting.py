"""A compiled project with more in it, made of its table in the network's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from codegen.emit import EmitOptions, project_files, selftest_vectors
from codegen.options import Options
from codegen.pipeline import Compiled


def written_with(compiled: Compiled, emit: EmitOptions, records: Mapping[str, Any], options: Options) -> Compiled:
    """The same network's files as these options want them; the manifest has the records too."""
    manifest = {**{k: v for k, v in compiled.manifest.items() if k != "files"}, **records}
    vectors = selftest_vectors(compiled.plan.graph, options.vectors)
    files, manifest = project_files(compiled.program, emit, vectors, manifest)
    return replace(compiled, emit=emit, files=files, manifest=manifest)
