"""compile_model: a model file to a C project on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codegen.emit import check_folder, write_project
from codegen.errors import OptionBad
from codegen.options import ShapesGiven, shape_pairs
from codegen.pipeline import Options, compile_file
from codegen.report.code_size import estimate_code_bytes
from codegen.schedule import OPTIMIZE, Optimize
from codegen.target import load_target
from codegen.verbs.sources import ModelSource, file_of, takes_model
from codegen.verbs.stack import check_stack_target, measured, with_stack


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """A generated project: its folder, its manifest.json, and about how much machine code it becomes."""

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)
    code_estimate_bytes: int


@takes_model
def compile_model(
    model: ModelSource,
    target: str = "host",
    out: str | Path = "lamina-out",
    *,
    requant: str | None = None,
    weights: str = "c",
    io_layout: str = "nhwc",
    io_type: str = "quantized",
    name: str | None = None,
    optimize: Optimize | None = None,
    arena_limit: int | None = None,
    stream_input: bool = False,
    shapes: ShapesGiven = None,
    measure_stack: bool = False,
    force: bool = False,
) -> Project:
    """The C project of `model` stands at `out`, whole, or CompileError is raised and `out` is as it was.

    Args:
        model: a quantized ONNX or TFLite file: its path, its bytes, the open file, or an onnx.ModelProto.
        target: a name that `targets()` lists, or the path of a .toml file.
        out: folder to write.  Of an earlier project there the files that were written are replaced, or removed where
            the new one has none of that name; everything else stays.  Files that were edited are not replaced
            (LAM-EMIT-003), nor is a folder taken that holds no project (LAM-EMIT-002).  docs/project.md.
        requant: `single`, `tflite` or `ort`; the target's default when None.
        weights: `c` for C arrays, `blob` for a file weights.bin.
        io_layout: `nhwc`, or `model` for the model's own order of axes.
        io_type: `quantized`, or `model` for the model's own element types.
        name: the network's name, prefix of every C identifier; the file's name when None.
        optimize: which memory plan to take: `memory` the smallest, `speed` the fastest, `balanced` the fastest that is
            little larger than the smallest.  None is what the target's file says, else `balanced`.
        arena_limit: bytes of working memory; the fastest plan within them is taken, and LAM-SCHEDULE-303 raised when
            there is none.  Without it the target's RAM is the limit.
        stream_input: the C takes the input row by row (NAME_push_row) and never holds it whole; LAM-SCHEDULE-304 when
            that cannot be.
        shapes: of inputs whose dimensions the model leaves open, by name (LAM-IMPORT-050 .. 052); an open first one
            is a batch of 1 without.
        measure_stack: run it on the target's emulated board, and put the stack that it takes into the manifest and the
            README; needs the target's compiler and its emulator (LAM-PROCESS-001 names their packages,
            LAM-EMULATOR-001 is for a target without such a board).  With `weights="blob"` the same network with C
            arrays is what runs.  Without it the files depend on no compiler.
        force: replace edited files too.
    """
    options = Options(
        target,
        requant,
        weights,
        io_layout,
        io_type,
        name,
        optimize=optimize,
        arena_limit=arena_limit,
        stream_input=stream_input,
        shapes=shape_pairs(shapes),
    )
    check_options(options)
    folder = _folder(out)
    check_folder(folder)
    if measure_stack:
        check_stack_target(load_target(target))
    compiled = compile_file(file_of(model), options)
    if measure_stack:
        plain = compiled if weights == "c" else compile_file(file_of(model), replace(options, weights="c", vectors=0))
        compiled = with_stack(compiled, measured(plain))
    write_project(folder, compiled.files, force=force)
    code = estimate_code_bytes(compiled.files, compiled.program.name, compiled.target.isa)
    return Project(folder, compiled.manifest, code)


def _folder(out: str | Path) -> Path:
    """The project's folder; LAM-IMPORT-030 for the empty name, which would mean the current folder."""
    if not str(out):
        raise OptionBad("''", where="out", hint="give the folder's name; the current one is called .")
    return Path(out)


def check_options(options: Options) -> None:
    """LAM-IMPORT-030 for an option with a value that does not exist."""
    allowed = {
        "weights": ("c", "blob"),
        "io_layout": ("nhwc", "model"),
        "io_type": ("quantized", "model"),
        "optimize": OPTIMIZE,
    }
    for option, values in allowed.items():
        given = getattr(options, option)
        if given not in values and not (given is None and option == "optimize"):
            raise OptionBad(f"{given!r}", where=option, hint=f"choose one of {', '.join(values)}")
    if options.name is not None and not isinstance(options.name, str):
        raise OptionBad(f"{options.name!r}", where="name", hint="give text")
    limit = options.arena_limit
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise OptionBad(f"{limit!r}", where="arena_limit", hint="give a whole number of bytes, 1 or more")
