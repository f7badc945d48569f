"""A model as a verb may be given it: a file's path, its bytes, an open file, or onnx.ModelProto.

Decides: that all of them are read from a file, the others from one that is gone when the verb returns, so that no stage
knows of more than paths; and that a file of another framework (.pt2, .keras) is made one of ONNX first.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from codegen.errors import CompileError, ModelMissing
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


ModelSource = str | Path | bytes | Serializable | Readable
Verb = TypeVar("Verb", bound=Callable[..., Any])

_TFLITE_MARK = b"TFL3"
_NAMELESS = "model"
_PREFIX = "lamina-model-"


def takes_model(verb: Verb) -> Verb:
    """The verb, whose first argument `model` may be any ModelSource."""

    @functools.wraps(verb)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not args and "model" in kwargs:
            args = (kwargs.pop("model"),)
        given = _of_framework(args[0]) if args else None
        if not args or (given is None and isinstance(args[0], str | os.PathLike)):
            return verb(*args, **kwargs)
        with _as_file(args[0] if given is None else given) as path:
            return verb(path, *args[1:], **kwargs)

    return cast(Verb, call)


@dataclass(frozen=True, slots=True)
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


@contextmanager
def _as_file(source: Any) -> Iterator[Path]:
    """A file of the model's bytes, called as the model is; no refusal names its folder, which the user never sees."""
    data, name = _content(source)
    ending = ".tflite" if data[4:8] == _TFLITE_MARK else ".onnx"
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        path = Path(folder) / f"{name}{ending}"
        path.write_bytes(data)
        try:
            yield path
        except CompileError as error:
            for problem in {error, *error.problems()}:
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
        hint = "give a path, bytes, a file opened with 'rb', or an onnx.ModelProto"
        raise ModelMissing(f"no model: it is {kind}", where="model", hint=hint)
    return data, _file_name(Path(str(getattr(source, "name", ""))).stem)


def _file_name(name: str) -> str:
    """The name as far as any file system has it."""
    kept = "".join(ch if ch.isascii() and (ch.isalnum() or ch in "_-") else "_" for ch in name[:100])
    return kept.strip("_-") or _NAMELESS
