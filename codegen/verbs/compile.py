"""compile_model: a model file to a C project on disk."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen import verbs
from codegen.datafiles import check_outputs, check_place, path_given, written_file
from codegen.emit import check_folder, write_project
from codegen.errors import OptionBad, OutputNotWritable, WeightsMisfit
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from codegen.planning import of_chip
from codegen.records import record
from codegen.report.code_size import estimate_code_bytes
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.kinds import Calibration
from codegen.verbs.measured import compile_to_measure
from codegen.verbs.sources import ModelSource, file_of, takes_model

if TYPE_CHECKING:
    from codegen.report.quantized import QuantReport


@record(eq=False)
class Project:
    """A generated project: its folder, its manifest.json, and about how much machine code it becomes.

    `quantized` is the report on a float model that was quantized on the way.
    """

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)
    code_estimate_bytes: int
    quantized: QuantReport | None = field(default=None, repr=False)


@record(kw_only=True)
class Writing:
    """Where the project goes, whether its stack is measured, whether edited files are replaced (`force`), with what.

    `calib` are samples by which a float model is quantized first, `config` the file with their `[preprocess]` table,
    the network's `[weights]`, and its `[postprocess]` table, which becomes C beside the network.
    `preprocess` is the file whose table of a camera becomes C beside the network.
    `weights_only`: `out` is a file, which becomes the blob of the weights and nothing else; `fits` is the project whose
    code has to take it.
    """

    out: str | Path = "lamina-out"
    measure_stack: bool = False
    force: bool = False
    toolkit: Toolkit = HOUSE
    calib: Calibration | None = None
    config: str | Path | None = None
    preprocess: str | Path | None = None
    weights_only: bool = False
    fits: str | Path | None = None


@takes_model
def compile_model(model: ModelSource, options: Options, writing: Writing) -> Project:
    """The C project of `model` stands at `writing.out`, whole, or CompileError is raised and it is as it was."""
    options = _as_configured(options, writing.config)
    if writing.weights_only or writing.fits is not None:
        return _weights_alone(model, options, writing)
    out = folder_for(writing.out)
    if writing.measure_stack:
        verbs.stack.check_stack_target(load_target(options.target))
    with _file(file_of(model), options, writing) as (path, report):
        compiled = compile_file(path, options, writing.toolkit)
        if writing.preprocess is not None:
            compiled = verbs.camera.with_camera(compiled, path_given(writing.preprocess, "preprocess"), options)
        if writing.config is not None:
            compiled = verbs.postprocess.with_postprocess(compiled, path_given(writing.config, "config"), options)
        if writing.measure_stack:
            stack = verbs.stack.measured(_plain(compiled, path, options, writing.toolkit))
            compiled = verbs.stack.with_stack(compiled, stack)
    write_project(out, compiled.files, force=writing.force)
    code = estimate_code_bytes(compiled.files, compiled.program.name, compiled.target.isa)
    return Project(out, compiled.manifest, code, report)


def _as_configured(options: Options, config: str | Path | None) -> Options:
    """The options, with what the network's file says of its weights."""
    if config is None:
        return options
    from codegen.preprocess import with_weights  # with what prepares samples, which compiling does without

    return with_weights(options, path_given(config, "config"))


def _weights_alone(model: ModelSource, options: Options, writing: Writing) -> Project:
    """The blob stands at `writing.out`, whole, or CompileError is raised and what was there is as it was."""
    from codegen.host.manifest import read_manifest  # with cffi, which writing a whole project does without

    def refused(found: str) -> OutputNotWritable:
        return OutputNotWritable(found, where=str(out))

    if writing.preprocess is not None:
        raise OptionBad(f"{writing.preprocess}", where="preprocess", hint="it is C; the blob of the weights has none")
    out = _given(writing.out)
    check_place(out, refused)
    check_outputs([out], [file_of(model)])
    known = None if writing.fits is None else read_manifest(path_given(writing.fits, "fits"))
    with _file(file_of(model), options, writing) as (path, report):
        compiled = compile_file(path, replace(options, weights="blob", package=(), vectors=0), writing.toolkit)
    if known is not None:
        _check_fit(known, compiled.manifest, str(writing.fits))
    with written_file(out, refused) as file:
        file.write(compiled.files["weights.bin"])
    code = estimate_code_bytes(compiled.files, compiled.program.name, compiled.target.isa)
    return Project(out, compiled.manifest, code, report)


def _check_fit(known: Mapping[str, Any], made: Mapping[str, object], where: str) -> None:
    """LAM-EMIT-009 when the code of a project would refuse the weights."""
    wanted, found = known.get("weights_structure"), str(made["weights_structure"])
    if not isinstance(wanted, str):
        raise WeightsMisfit("its weights are C arrays: it takes no file", where=where)
    if wanted != found:
        same = wanted[:_STRUCTURE] == found[:_STRUCTURE]
        raise WeightsMisfit(f"its {'interface' if same else 'structure'} is another one", where=where)


_STRUCTURE = 24
"""Digits of a blob's structure; behind them those of its interface."""


def _file(model: Path, options: Options, writing: Writing) -> AbstractContextManager[tuple[Path, QuantReport | None]]:
    """The file that is compiled, and the report of a model that was quantized on the way."""
    if writing.calib is None:
        return nullcontext((model, None))
    how = verbs.quantizing.Quantizing(calib=writing.calib, config=writing.config, toolkit=writing.toolkit)
    return verbs.on_the_way.quantized_by(how, model, options)


def folder_for(out: str | Path) -> Path:
    """The folder of that name, which may become a project.

    Raises:
        CompileError: LAM-IMPORT-030 for no name, and for an empty one, which would be the current folder; the ids of
            `check_folder`.
    """
    folder = _given(out)
    check_folder(folder)
    return folder


def _given(out: str | Path) -> Path:
    if not str(out):
        raise OptionBad("''", where="out", hint="give the folder's name; the current one is called .")
    return path_given(out, "out")


def _plain(compiled: Compiled, model: Path, options: Options, toolkit: Toolkit) -> Compiled:
    """The same network with its weights as C arrays, which is what a board can run."""
    if of_chip(options, compiled.target).weights == "c":
        return compiled
    return compile_to_measure(model, options, toolkit)
