"""Files of other frameworks as files of ONNX: exported programs of PyTorch, models of Keras.

Decides: which file is which, by its ending, and what is said where its framework is not installed.  Both are read by
their own framework, which may run code that is in them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from codegen import train
from codegen.datafiles import read_file
from codegen.errors import CompileError, ExtraMissing, KerasNotRead, ModelMissing, first_line
from codegen.frontends.files import MAX_FILE_BYTES
from codegen.python_files import caught


def onnx_of_framework(path: Path) -> bytes | None:
    """The ONNX file of another framework's; None for a file that is none."""
    read = _READERS.get(path.suffix.lower())
    if read is None:
        return None
    read_file(path, MAX_FILE_BYTES, lambda found: ModelMissing(found, where=str(path)))
    return read(path)


def from_torch(module: Any, example_inputs: Any) -> bytes:
    """The ONNX file of a PyTorch module, which every function here takes as a model.

    Args:
        module: a torch.nn.Module, float or quantized by PyTorch; or a torch.export.ExportedProgram.
        example_inputs: what it is called with, a tensor or a tuple of them; their shapes are the network's.

    Raises:
        ExtraMissing: LAM-API-002, torch is not installed.
        CompileError: LAM-TRAIN-001 to -003.
    """
    train.check_torch("from_torch reads PyTorch's modules")
    made: bytes = train.from_torch(module, example_inputs)
    return made


def _program(path: Path) -> bytes:
    train.check_torch("a .pt2 file is read by PyTorch")
    made: bytes = train.program_bytes(path)
    return made


def _keras(path: Path) -> bytes:
    """By Keras' own exporter, once the model has been called, which some backends want."""
    keras = _loaded_keras()
    _check_saved(path)
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        made = Path(folder) / "model.onnx"
        with caught(lambda error: _not_read(error, path)), _quietly(keras):
            model = keras.saving.load_model(path, compile=False)
            given = getattr(model, "input", model.inputs[0])
            model(keras.tree.map_structure(lambda x: np.zeros([n or 1 for n in x.shape], x.dtype), given))
            one = keras.tree.map_structure(lambda x: keras.InputSpec(x.dtype, (1, *x.shape[1:]), name=x.name), given)
            _export(model, made, [one])
        return made.read_bytes()


def _check_saved(path: Path) -> None:
    """Refuse a file that Keras 3 has not saved, of which it says that it was not found."""
    if not zipfile.is_zipfile(path):
        raise KerasNotRead("no file of model.save of Keras 3: it is no zip archive", where=str(path))
    with zipfile.ZipFile(path) as archive:
        if _CONFIG not in archive.namelist():
            raise KerasNotRead(f"{_CONFIG} is missing in the archive", where=str(path))
        with caught(lambda _: KerasNotRead(f"{_CONFIG} in the archive is no JSON", where=str(path))):
            json.loads(archive.read(_CONFIG))


def _export(model: Any, made: Path, one_sample: list[Any]) -> None:
    """With an open number of samples; where that fails with one, which Keras gives to torch's slower exporter."""
    try:
        model.export(made, format="onnx", verbose=False)
    except Exception:
        model.export(made, format="onnx", verbose=False, input_signature=one_sample)


@contextlib.contextmanager
def _quietly(keras: Any) -> Iterator[None]:
    """Without what exporters print."""
    torchs = train.quietly() if keras.backend.backend() == "torch" else contextlib.nullcontext()
    with torchs, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def _not_read(error: BaseException, path: Path) -> CompileError:
    """A package that Keras' exporter wants, or whatever Keras says of the file."""
    if isinstance(error, ImportError):
        return ExtraMissing(error.name or "onnxscript", "keras", "Keras exports through it")
    return KerasNotRead(first_line(error), where=str(path))


def _loaded_keras() -> Any:
    """Keras, on the backend that the user has chosen, or on PyTorch."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    try:
        return importlib.import_module("keras")
    except ImportError as error:
        raise ExtraMissing(error.name or "keras", "keras", "a .keras file is read by Keras") from None


_CONFIG = "config.json"
"""The model's layers, in a .keras file."""
_READERS: Mapping[str, Callable[[Path], bytes]] = {".keras": _keras, ".pt2": _program}
"""By the ending of a file."""
