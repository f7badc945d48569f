"""Data as people have it: arrays, a file of arrays, a folder or a list of pictures or sounds.

Decides: what each is by what is found there, which labels a folder says, and that files come in the order of their
names.  A folder of folders has a class for each, numbered by name; a list has a file in each line, and its label.
"""

from __future__ import annotations

import os
import wave
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codegen.datafiles import open_file
from codegen.errors import DataDoesNotFit, DataFileBad, FileTooLarge, first_line
from codegen.ir.quant import Array
from codegen.preprocess.npz import MAX_DATA_BYTES, read_npz
from codegen.records import record

DataGiven = str | Path | Mapping[str, Array]
"""A .npz or .npy file, a .wav file, a folder, a .txt list of files, or arrays by name."""
PICTURES = (".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
_SOUND = ".wav"
_LIST = ".txt"
_MOST_FILES = 1_000_000


@record(eq=False)
class Data:
    """Arrays by name; `pictures`: samples are files of pictures, joined under `jpeg` and parted by `offset`."""

    arrays: dict[str, Array]
    pictures: bool = False


def read_data(given: DataGiven) -> tuple[Data, str]:
    """What was given, and what errors call it.

    Raises:
        DataFileBad: LAM-API-003, nothing there, or nothing that is data; the ids of `read_npz`.
    """
    if isinstance(given, Mapping):
        return Data({name: np.asarray(array) for name, array in given.items()}), "the arrays"
    path = Path(given)
    if os.path.isdir(path):
        return _of_files(*_folder(path), path), str(path)
    if path.suffix.lower() == _LIST and os.path.isfile(path):
        return _of_files(*_list(path), path), str(path)
    if path.suffix.lower() == _SOUND and os.path.isfile(path):
        return _of_files([path], None, path), str(path)
    return Data(read_npz(path)), str(path)


def gathered(given: DataGiven | Iterable[Mapping[str, Any]]) -> DataGiven:
    """Samples that come one by one, as arrays of all of them; anything else as it is.

    Raises:
        DataDoesNotFit: LAM-API-005, none comes, one is no mapping, or those of `stacked`.
    """
    if isinstance(given, str | Path | Mapping):
        return given
    if isinstance(given, np.ndarray) or not isinstance(given, Iterable):
        raise DataDoesNotFit(f"{type(given).__name__}: neither a file, nor arrays by name, nor samples", where="data")
    listed = list(given)
    if not listed:
        raise DataDoesNotFit("no samples", where="data")
    strange = [type(sample).__name__ for sample in listed if not isinstance(sample, Mapping)]
    if strange:
        raise DataDoesNotFit(f"a sample is of type {strange[0]}, not arrays by name", where="data")
    return stacked(listed, list(listed[0]))


def stacked(samples: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Array]:
    """These arrays of all samples; LAM-API-005 where one lacks an array, or has it in another shape."""
    missing = [n for n in names if any(n not in sample for sample in samples)]
    if missing:
        raise DataDoesNotFit(f"a sample has no array '{missing[0]}'", where="the samples")
    return {n: stack([sample[n] for sample in samples], f"'{n}'") for n in names}


def stack(samples: Sequence[Any], name: str) -> Array:
    """One array of samples; LAM-API-005 where they are of several shapes."""
    try:
        return np.stack([np.asarray(sample) for sample in samples])
    except ValueError as error:
        raise DataDoesNotFit(f"no array can be made of {name}: {first_line(error)}", where="the samples") from error


def _folder(folder: Path) -> tuple[list[Path], list[int] | None]:
    """Its files; those of the folders in it, with the folders' numbers, where there are no others."""
    try:
        inside = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
        classes = [p for p in inside if p.is_dir()]
        if not classes:
            return [p for p in inside if _is_known(p)], None
        if any(_is_known(p) for p in inside):
            raise DataFileBad("has files beside the folders of its classes", where=str(folder))
        found = [(p, number) for number, c in enumerate(classes) for p in sorted(c.iterdir()) if _is_known(p)]
    except OSError as error:
        raise DataFileBad(error.strerror or type(error).__name__, where=str(folder)) from error
    return [p for p, _ in found], [number for _, number in found]


def _list(path: Path) -> tuple[list[Path], list[int] | None]:
    """The files that a list names, from its own folder on, and their labels where each line has one."""
    with open_file(path, MAX_DATA_BYTES, lambda found: DataFileBad(found, where=str(path))) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    files: list[Path] = []
    labels: list[int] = []
    for number, line in enumerate(lines, 1):
        name, _, label = line.strip().rpartition(" ")
        if not line.strip() or line.startswith("#"):
            continue
        if name and label.lstrip("-").isdigit():
            labels.append(int(label))
        files.append(path.parent / (name.strip() if len(labels) > len(files) else line.strip()))
        if len(labels) not in (0, len(files)):
            raise DataFileBad("some lines end in a label and others do not", where=f"{path}, line {number}")
    return files, labels or None


def _is_known(path: Path) -> bool:
    return path.suffix.lower() in (*PICTURES, _SOUND)


def _of_files(files: Sequence[Path], labels: Sequence[int] | None, where: Path) -> Data:
    """Pictures as they lie on the disk, or sounds as numbers."""
    if not files:
        hint = f"it takes files {', '.join((*PICTURES, _SOUND))}, or folders of these, a folder a class"
        raise DataFileBad("holds neither pictures nor sounds", where=str(where), hint=hint)
    if len(files) > _MOST_FILES:
        raise FileTooLarge(f"{len(files)} files, at most {_MOST_FILES} are read", where=str(where))
    said = {} if labels is None else {"y": np.array(labels, np.int64)}
    sounds = {p.suffix.lower() == _SOUND for p in files}
    if sounds == {True}:
        return Data({"x": _sounds(files), **said})
    if sounds == {False}:
        return Data({**_joined(files), **said}, pictures=True)
    raise DataFileBad("holds pictures and sounds", where=str(where))


def _joined(files: Sequence[Path]) -> dict[str, Array]:
    parts = [_bytes(path) for path in files]
    total = sum(map(len, parts))
    if total > MAX_DATA_BYTES:
        raise FileTooLarge(f"{total} bytes of pictures, at most {MAX_DATA_BYTES} are read", where=str(files[0].parent))
    return {
        "jpeg": np.frombuffer(b"".join(parts), np.uint8),
        "offset": np.cumsum([0, *map(len, parts)]).astype(np.int64),
    }


def _bytes(path: Path) -> bytes:
    with open_file(path, MAX_DATA_BYTES, lambda found: DataFileBad(found, where=str(path))) as file:
        return file.read()


def _sounds(files: Sequence[Path]) -> Array:
    """i16[files, samples] of one channel, i16[files, samples, channels] of several."""
    sounds = [_sound(path) for path in files]
    for path, sound in zip(files, sounds, strict=True):
        if sound.shape != sounds[0].shape:
            found = f"has samples {list(sound.shape)}, {files[0].name} has {list(sounds[0].shape)}"
            raise DataFileBad(found, where=str(path), hint="cut them to one length, with one number of channels")
    return np.stack(sounds)


def _sound(path: Path) -> Array:
    """The samples of a .wav file of 16 bits; LAM-API-003 for anything else."""
    with open_file(path, MAX_DATA_BYTES, lambda found: DataFileBad(found, where=str(path))) as file:
        try:
            with wave.open(file) as sound:
                width, channels = sound.getsampwidth(), sound.getnchannels()
                content = sound.readframes(sound.getnframes())
        except (wave.Error, EOFError, ValueError) as error:
            raise DataFileBad(f"no readable sound: {error or 'cut off'}", where=str(path)) from error
    if width != 2:
        raise DataFileBad(f"has samples of {8 * width} bits", where=str(path), hint="write them with 16 bits")
    samples = np.frombuffer(content[: len(content) // (2 * channels) * 2 * channels], "<i2").astype(np.int16)
    return samples if channels == 1 else samples.reshape(-1, channels)
