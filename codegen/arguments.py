"""Arguments of public functions, held against what they are declared as: a wrong type is refused by name.

Decides: which declarations are looked into.  Arrays, and protocols that cannot be called, are left to who takes them.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, Unpack, cast, get_args, get_origin, get_type_hints

import numpy as np

from codegen.errors import OptionBad

Function = TypeVar("Function", bound=Callable[..., Any])
Test = Callable[[Any], bool]

_PLAIN: Mapping[Any, tuple[Test, str]] = {
    types.NoneType: (lambda given: given is None, "None"),
    bool: (lambda given: isinstance(given, bool | np.bool_), "True or False"),
    int: (lambda given: isinstance(given, Integral) and not isinstance(given, bool), "a whole number"),
    float: (lambda given: isinstance(given, Real) and not isinstance(given, bool), "a number"),
    str: (lambda given: isinstance(given, str), "text"),
    Path: (lambda given: isinstance(given, os.PathLike), "a path"),
    Literal: (lambda given: isinstance(given, str), "text"),
    Mapping: (lambda given: isinstance(given, Mapping), "a mapping"),
    tuple: (lambda given: isinstance(given, tuple), "a tuple"),
    Callable: (callable, "a function"),
}
"""What is a value of a type, and how such values are called."""
_CHECKED_ELSEWHERE = ("model", "shapes")
_LONGEST_SHOWN = 60


def takes_declared(function: Function) -> Function:
    """The function, which refuses an argument that is of no type that it declares: LAM-IMPORT-030."""

    @functools.wraps(function)
    def call(*args: Any, **words: Any) -> Any:
        declared = _declared(function)
        for name, given in (*zip(declared, args, strict=False), *words.items()):
            if name in declared and name not in _CHECKED_ELSEWHERE:
                check_argument(name, given, declared[name])
        return function(*args, **words)

    return cast(Function, call)


def check_fields(record: Any) -> None:
    """As `takes_declared`, of the fields that a record has been given."""
    kinds: dict[str, Any] = _hints(cast(Any, type(record)))
    for name, kind in kinds.items():
        if name not in _CHECKED_ELSEWHERE:
            check_argument(name, getattr(record, name), kind)


def check_argument(name: str, given: object, kind: Any) -> None:
    """Refuse what is no value of this type."""
    if not _is(given, kind):
        shown = repr(given)[:_LONGEST_SHOWN]
        hint = f"give {' or '.join(dict.fromkeys(_said(kind)))}"
        raise OptionBad(f"{shown} is of type {type(given).__name__}", where=name, hint=hint)


@functools.cache
def _declared(function: Callable[..., Any]) -> dict[str, Any]:
    """Each argument's type, those of `**words` by their own names, in the order of the function's signature."""
    hints = _hints(function)
    found: dict[str, Any] = {}
    for name in inspect.signature(function).parameters:
        kind = hints.get(name, Any)
        found |= _hints(get_args(kind)[0]) if get_origin(kind) is Unpack else {name: kind}
    return found


@functools.cache
def _hints(of: Any) -> dict[str, Any]:
    """Types by name, but for what a function gives, whose module may be loaded when it is made."""
    if not inspect.isfunction(of):
        return get_type_hints(of)
    taken = {name: kind for name, kind in of.__annotations__.items() if name != "return"}
    return get_type_hints(types.SimpleNamespace(__annotations__=taken), of.__globals__)


def _is(given: Any, kind: Any) -> bool:
    """Whether this may be a value of the type; True where it is not looked into."""
    if _is_union(kind):
        return any(_is(given, one) for one in get_args(kind))
    if get_origin(kind) is Sequence:
        return _is_sequence(given) and _holds(given, *get_args(kind))
    if _key(kind) in _PLAIN:
        return _PLAIN[_key(kind)][0](given)
    return not _is_class(kind) or isinstance(given, kind)


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _is_sequence(given: Any) -> bool:
    return isinstance(given, Collection) and not isinstance(given, str | bytes | Mapping)


def _holds(given: Any, kind: Any) -> bool:
    """Whether all elements are of the type; those of plain ones are looked at, and an array of no axes has none."""
    plain = kind in (str, int, float)
    return not plain or (np.ndim(given) > 0 and all(_is(one, kind) for one in given))


def _key(kind: Any) -> Any:
    """A type as _PLAIN knows it; a protocol that can be called is a function."""
    if getattr(kind, "_is_protocol", False) and "__call__" in vars(kind):
        return Callable
    return get_origin(kind) or kind


def _is_class(kind: Any) -> bool:
    """Whether the type is a class of which a value must be, and no protocol."""
    return inspect.isclass(kind) and kind is not Any and get_origin(kind) is None and not _is_protocol(kind)


def _is_protocol(kind: Any) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def _said(kind: Any) -> Iterator[str]:
    """What may be given, in words."""
    if _is_union(kind):
        for one in get_args(kind):
            yield from _said(one)
    elif get_origin(kind) is Sequence:
        yield "a sequence"
    else:
        yield _PLAIN[_key(kind)][1] if _key(kind) in _PLAIN else f"of type {getattr(kind, '__name__', kind)}"
