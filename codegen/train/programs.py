"""Modules and exported programs of PyTorch as files of ONNX, for everything that takes a model.

Decides: nothing about numbers; what an exported program is called with stands in it.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import torch

from codegen.errors import ProgramUnreadable, first_line
from codegen.python_files import caught
from codegen.train.decomposed import declare
from codegen.train.writing import onnx_of, silenced, tensors_of

_PROGRAMS = ("models/model.json", "serialized_exported_program.json")
"""What an archive holds of a program, from PyTorch 2.8 on and before."""


def from_torch(module: Any, example_inputs: Any) -> bytes:
    """The ONNX file of a module, which every function of `codegen` takes as a model.

    Args:
        module: a torch.nn.Module, float or quantized by PyTorch; or a torch.export.ExportedProgram.
        example_inputs: what it is called with, a tensor or a tuple of them; their shapes are the network's.

    Raises:
        CompileError: LAM-TRAIN-001 to -003.
    """
    return onnx_of(_module(module), tensors_of(example_inputs))[1]


def program_bytes(path: Path) -> bytes:
    """The ONNX file of a program that torch.export.save has written.

    Raises:
        ProgramUnreadable: LAM-TRAIN-011.
        CompileError: LAM-TRAIN-001 and -002.
    """
    _check_saved(path)
    declare()
    with caught(lambda error: ProgramUnreadable(_said(error), where=str(path))), silenced("torch.export"):
        program = torch.export.load(str(path))
    example = program.example_inputs
    if example is None or example[1]:
        said = "example inputs are missing" if example is None else "inputs by keyword"
        raise ProgramUnreadable(said, where=str(path))
    return from_torch(program, example[0])


def _check_saved(path: Path) -> None:
    """Refuse a file that torch.export has not written, of which torch says nothing that helps."""
    if not zipfile.is_zipfile(path):
        raise ProgramUnreadable("no file of torch.export.save: it is no zip archive", where=str(path))
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if any(name.endswith(_PROGRAMS) for name in names):
        return
    if any(name.endswith("data.pkl") for name in names):
        raise ProgramUnreadable("written by torch.save or torch.jit.save, not by torch.export.save", where=str(path))
    raise ProgramUnreadable("no exported program is in the archive", where=str(path))


def _module(given: Any) -> Any:
    """An exported program's module; anything else is what it is."""
    return given.module() if isinstance(given, torch.export.ExportedProgram) else given


def _said(error: BaseException) -> str:
    """What torch says of a file, without where it would have said more."""
    return first_line(error).partition(" Please check the warnings")[0]
