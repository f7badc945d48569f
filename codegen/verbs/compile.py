"""compile_model: a model file to a C project on disk."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen import verbs
from codegen.datafiles import path_given
from codegen.emit import check_folder, write_project
from codegen.errors import OptionBad
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from codegen.report.code_size import estimate_code_bytes
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.kinds import Calibration
from codegen.verbs.sources import ModelSource, file_of, takes_model

if TYPE_CHECKING:
    from codegen.report.quantized import QuantReport


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """A generated project: its folder, its manifest.json, and about how much machine code it becomes.

    `quantized` is the report on a float model that was quantized on the way.
    """

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)
    code_estimate_bytes: int
    quantized: QuantReport | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """Where the project goes, whether its stack is measured, whether edited files are replaced (`force`), with what.

    `calib` are samples by which a float model is quantized first, `config` the file with their `[preprocess]` table.
    """

    out: str | Path = "lamina-out"
    measure_stack: bool = False
    force: bool = False
    toolkit: Toolkit = HOUSE
    calib: Calibration | None = None
    config: str | Path | None = None


@takes_model
def compile_model(model: ModelSource, options: Options, writing: Writing) -> Project:
    """The C project of `model` stands at `writing.out`, whole, or CompileError is raised and it is as it was."""
    out = folder_for(writing.out)
    if writing.measure_stack:
        verbs.stack.check_stack_target(load_target(options.target))
    with _file(file_of(model), options, writing) as (path, report):
        compiled = compile_file(path, options, writing.toolkit)
        if writing.measure_stack:
            stack = verbs.stack.measured(_plain(compiled, path, options, writing.toolkit))
            compiled = verbs.stack.with_stack(compiled, stack)
    write_project(out, compiled.files, force=writing.force)
    code = estimate_code_bytes(compiled.files, compiled.program.name, compiled.target.isa)
    return Project(out, compiled.manifest, code, report)


def _file(model: Path, options: Options, writing: Writing) -> AbstractContextManager[tuple[Path, QuantReport | None]]:
    """The file that is compiled, and the report of a model that was quantized on the way."""
    if writing.calib is None:
        return nullcontext((model, None))
    return verbs.on_the_way.quantized_by(writing.calib, writing.config, model, options)


def folder_for(out: str | Path) -> Path:
    """The folder of that name, which may become a project.

    Raises:
        CompileError: LAM-IMPORT-030 for no name, and for an empty one, which would be the current folder; the ids of
            `check_folder`.
    """
    if not str(out):
        raise OptionBad("''", where="out", hint="give the folder's name; the current one is called .")
    folder = path_given(out, "out")
    check_folder(folder)
    return folder


def _plain(compiled: Compiled, model: Path, options: Options, toolkit: Toolkit) -> Compiled:
    """The same network with its weights as C arrays, which is what a board can run."""
    plain = replace(options, weights="c", vectors=0)
    return compiled if options.weights == "c" else compile_file(model, plain, toolkit)
