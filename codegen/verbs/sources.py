"""A model as a verb may be given it: a file's path, its bytes, an open file, onnx.ModelProto, or two files.

Decides: that all of them are read from a file, the others from one that is gone when the verb returns, so that no stage
knows of more than paths; and that a file of another framework (.pt2, .keras) is made one of ONNX first.  The two files
of a Caffe network are a pair, or one word with a comma between them.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from codegen.errors import CaffemodelAlone, CompileError, ModelMissing
from codegen.frontends.files import read_model_file
from codegen.records import record
from codegen.verbs.frameworks import onnx_of_framework


class Serializable(Protocol):
    """A protobuf message such as onnx.ModelProto."""

    def SerializeToString(self) -> bytes:
        """The message's bytes."""
        ...


class Readable(Protocol):
    """A file opened for reading bytes."""

    def read(self) -> bytes:
        """What is left of it."""
        ...


ModelSource = str | Path | bytes | Serializable | Readable | tuple[str | Path, str | Path]
Verb = TypeVar("Verb", bound=Callable[..., Any])

_TFLITE_MARK = b"TFL3"
_NAMELESS = "model"
_PREFIX = "lamina-model-"
_TEXT, _WEIGHTS = ".prototxt", ".caffemodel"


def takes_model(verb: Verb) -> Verb:
    """The verb, whose first argument `model` may be any ModelSource."""

    @functools.wraps(verb)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not args and "model" in kwargs:
            args = (kwargs.pop("model"),)
        made = _file_for(args[0]) if args else None
        if made is None:
            return verb(*args, **kwargs)
        with made as path:
            return verb(path, *args[1:], **kwargs)

    return cast(Verb, call)


def _file_for(source: Any) -> AbstractContextManager[Path] | None:
    """The file that a source becomes for as long as it is needed; None for a path, which is read where it is."""
    pair = caffe_files(source)
    if pair is not None:
        return _as_pair(*pair)
    given = _of_framework(source)
    if given is None and isinstance(source, str | os.PathLike):
        return None
    return _as_file(source if given is None else given)


@record
class _Named:
    """What another framework's file became, under that file's name."""

    name: str
    data: bytes

    def read(self) -> bytes:
        """All of it."""
        return self.data


def _of_framework(source: object) -> _Named | None:
    """The model of another framework's file; None for everything else."""
    if not isinstance(source, str | os.PathLike):
        return None
    data = onnx_of_framework(Path(source))
    return None if data is None else _Named(Path(source).name, data)


def file_of(model: ModelSource) -> Path:
    """The file of a model that `takes_model` has made one."""
    assert isinstance(model, str | os.PathLike), "the verb is decorated"
    return Path(model)


def shown(path: Path) -> str:
    """How the user knows a model's file: as it was given, or its name where that is all there is."""
    return path.name if path.parent.name.startswith(_PREFIX) else str(path)


def caffe_files(source: Any) -> tuple[Path, Path] | None:
    """The prototxt and the caffemodel of a source that is both: a pair of paths, or their names and a comma between.

    Raises:
        CaffemodelAlone: LAM-IMPORT-065, for weights beside what is no prototxt.
    """
    if isinstance(source, tuple) and len(source) == 2 and all(isinstance(one, str | os.PathLike) for one in source):
        first, second = map(Path, source)
    elif isinstance(source, str) and f"{_TEXT}," in source and not Path(source).exists():
        first, second = map(Path, source.split(f"{_TEXT},", 1))
        first = first.with_name(f"{first.name}{_TEXT}")
    else:
        return None
    if first.suffix != _TEXT:
        raise CaffemodelAlone(f"'{second}' is given beside it, which only a prototxt has", where=str(first))
    return first, second


def watched(source: Any) -> tuple[Path, ...]:
    """The files that a source is read from, as far as they are there."""
    found: tuple[Path, ...] = caffe_files(source) or ()
    if not found and isinstance(source, str | os.PathLike):
        path = Path(source)
        found = (path, path.with_suffix(_WEIGHTS)) if path.suffix == _TEXT else (path,)
    return tuple(path for path in found if path.is_file())


@contextmanager
def _as_pair(network: Path, weights: Path) -> Iterator[Path]:
    """A prototxt with its weights beside it, by the name at which they are looked for."""
    files = {f"{network.stem}{_TEXT}": network, f"{network.stem}{_WEIGHTS}": weights}
    with _written({name: read_model_file(file) for name, file in files.items()}, files) as path:
        yield path


@contextmanager
def _as_file(source: Any) -> Iterator[Path]:
    """A file of the model's bytes, called as the model is."""
    data, name = _content(source)
    file = f"{name}{'.tflite' if data[4:8] == _TFLITE_MARK else '.onnx'}"
    with _written({file: data}, {}) as path:
        yield path


@contextmanager
def _written(files: Mapping[str, bytes], known: Mapping[str, Path]) -> Iterator[Path]:
    """The first of some files; refusals name what is `known` of them, not their folder, which the user never sees."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        try:
            yield Path(folder) / next(iter(files))
        except CompileError as error:
            for problem in {error, *error.problems()}:
                for name, path in known.items():
                    problem.where = problem.where.replace(str(Path(folder) / name), str(path))
                problem.where = problem.where.replace(f"{folder}{os.sep}", "")
                problem.args = (problem.text(),)
            error.args = (error.text(),)
            raise


def _content(source: Any) -> tuple[bytes, str]:
    """The model's bytes, and what it is called."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), _NAMELESS
    if hasattr(source, "SerializeToString"):
        return source.SerializeToString(), _file_name(getattr(getattr(source, "graph", None), "name", ""))
    data = source.read() if hasattr(source, "read") else None
    if not isinstance(data, bytes):
        kind = "a file opened as text" if isinstance(data, str) else f"of type {type(source).__name__}"
        hint = "give a path, bytes, a file opened with 'rb', an onnx.ModelProto, or a prototxt and its caffemodel"
        raise ModelMissing(f"no model: it is {kind}", where="model", hint=hint)
    return data, _file_name(Path(str(getattr(source, "name", ""))).stem)


def _file_name(name: str) -> str:
    """The name as far as any file system has it."""
    kept = "".join(ch if ch.isascii() and (ch.isalnum() or ch in "_-") else "_" for ch in name[:100])
    return kept.strip("_-") or _NAMELESS
