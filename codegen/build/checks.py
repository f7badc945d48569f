"""What a call of Net is given, looked at before it becomes a part of the network.

Decides: that whatever is none of what the call takes is a refusal with an id, never an error of Python's.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

import numpy as np

from codegen.errors import CallWrong, CompileError, TensorWrong, first_line
from codegen.ir.quant import Array
from codegen.ir.real import Definition, RealOp, Stored
from codegen.ir.shape import Window

_NUMBERS = "fiub"
"""numpy's kinds of types whose elements tensors may have."""


def text(given: Any, what: str) -> str:
    """A name; LAM-BUILD-002 for what is none."""
    if not isinstance(given, str) or not given:
        raise CallWrong(f"{given!r:.60} is no name", where=what)
    return given


def texts(given: Any, what: str) -> tuple[str, ...]:
    """A list of names."""
    return tuple(text(name, what) for name in listed(given, what))


def listed(given: Any, what: str) -> Sequence[Any]:
    """A tuple or list."""
    if not isinstance(given, tuple | list):
        raise CallWrong(f"{given!r:.60} is no tuple", where=what)
    return given


def definition(given: Any) -> Definition:
    """Whose arithmetic is meant."""
    if given not in get_args(Definition):
        raise CallWrong(f"{given!r:.60} is no definition; known are {', '.join(get_args(Definition))}", where="Net")
    known: Definition = given
    return known


def count(given: Any, what: str) -> int:
    """How many of something, at least one."""
    try:
        number = operator.index(given)
    except TypeError:
        number = 0
    if number < 1:
        raise CallWrong(f"{given!r:.60} is no whole number above 0", where=what)
    return number


def sizes(given: Any, what: str) -> tuple[int, ...]:
    """A shape, every size of it known."""
    try:
        return tuple(count(size, f"{what}: shape") for size in given)
    except TypeError:
        raise CallWrong(f"{given!r:.60} is no shape", where=what) from None


def element(given: Any, what: str) -> np.dtype[Any]:
    """The type of a tensor's elements."""
    try:
        kind: np.dtype[Any] = np.dtype(given)
    except TypeError:
        raise CallWrong(f"{given!r:.60} is no type of elements", where=what) from None
    if kind.kind not in _NUMBERS:
        raise CallWrong(f"elements of type {kind} are no numbers", where=what)
    return kind


def numbers(given: Any, what: str) -> Array:
    """An array or number; LAM-BUILD-003 for anything else."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise TensorWrong("the rows of the array are of different lengths", where=what) from None
    if array.dtype.kind not in _NUMBERS:
        raise TensorWrong(f"{given!r:.60} is of type {type(given).__name__}", where=what)
    return array


def stored(given: Any, what: str) -> Stored | None:
    """How a tensor is stored."""
    if given is not None and not isinstance(given, Stored):
        raise CallWrong(f"held is {given!r:.60}, no Stored", where=what)
    return given


def scales(given: Any) -> Array:
    """Scales as float32."""
    return numbers(given, "scale").astype(np.float32)


def zeros(given: Any, scale: Array, dtype: Any) -> Array:
    """The zero point of each scale, in the integers that it is of."""
    kind, zero = element(dtype, "dtype"), numbers(given, "zero_point")
    if zero.dtype.kind not in "iu" or zero.shape not in ((), scale.shape):
        raise CallWrong(f"{given!r:.60} is no whole number, and no array of one for each scale", where="zero_point")
    if kind.kind in "iu" and zero.size and not np.iinfo(kind).min <= zero.min() <= zero.max() <= np.iinfo(kind).max:
        raise CallWrong(f"{given!r:.60} is outside {kind}", where="zero_point")
    return np.full(scale.shape, zero, kind)


def known_operator(op: Any) -> RealOp:
    """An operator of the RealGraph whose windows, if any, have taps."""
    if isinstance(op, type) or not isinstance(op, RealOp):
        raise CallWrong(f"{op!r:.60} is no operator of the RealGraph", where="apply")
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(op) if dataclasses.is_dataclass(op) else ()
    for name in [field.name for field in fields]:
        _check_windows(getattr(op, name), f"{type(op).__name__}: {name}")
    return op


def _check_windows(value: Any, what: str) -> None:
    for window in value if isinstance(value, tuple | list) else (value,):
        if isinstance(window, Window):
            for steps in (window.size, window.stride, window.dilation):
                count(steps, what)


@contextmanager
def fitting(op: RealOp, operands: int) -> Iterator[None]:
    """What an operator raises of operands and fields that it was not made for is LAM-BUILD-002."""
    where = type(op).__name__
    try:
        yield
    except CompileError:
        raise
    except IndexError as error:
        raise CallWrong(f"{operands} operands are too few", where=where) from error
    except Exception as error:
        raise CallWrong(f"its operands or fields do not fit: {first_line(error)}", where=where) from error
