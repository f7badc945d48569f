"""Records: frozen dataclasses whose classes are made quickly, for the house has hundreds and makes them at every start.

The standard library writes six functions of a class as text, and Python compiles them.  Here that is `__init__` alone,
which runs most; how records compare, print, are stored and refuse to change is the same for all.  Decides nothing else:
`field`, `fields` and `replace` of `dataclasses` serve records too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

Kind = TypeVar("Kind")


@overload
def record(plain: type[Kind], /) -> type[Kind]: ...
@overload
def record(*, eq: bool = ..., kw_only: bool = ..., slots: bool = ...) -> Callable[[type[Kind]], type[Kind]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(plain: Any = None, /, *, eq: bool = True, kw_only: bool = False, slots: bool = True) -> Any:
    """The class as a record; without `eq`, a record equals itself alone."""

    def made(plain: type[Kind]) -> type[Kind]:
        kind = dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)(plain)
        given = vars(plain)
        for name, method in {"__init__": _initial(kind), **_COMMON, **(_comparing(kind) if eq else {})}.items():
            if name not in given:
                setattr(kind, name, method)
        return kind

    return made if plain is None else made(plain)


def _initial(kind: type[Any]) -> Callable[..., None]:
    """`__init__`: the fields in their order, those by keyword alone last."""
    given = [part for part in fields(kind) if part.init]
    heads = [_parameter(part) for part in given if not part.kw_only]
    named = [_parameter(part) for part in given if part.kw_only]
    parameters = ", ".join(["self", *heads, *(["*", *named] if named else [])])
    body = [f"    _keep_(self, {part.name!r}, {_value(part)})" for part in given]
    if hasattr(kind, "__post_init__"):
        body.append("    self.__post_init__()")
    names: dict[str, Any] = {"_keep_": object.__setattr__, "_MISSING_": MISSING, "__name__": kind.__module__}
    names |= {f"_default_{part.name}": part.default for part in given}
    names |= {f"_make_{part.name}": part.default_factory for part in given}
    exec("\n".join([f"def __init__({parameters}):", *(body or ["    pass"])]), names)
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    made.__annotations__ = {part.name: part.type for part in given} | {"return": None}
    return made


def _parameter(part: Field[Any]) -> str:
    if part.default is not MISSING:
        return f"{part.name}=_default_{part.name}"
    return part.name if part.default_factory is MISSING else f"{part.name}=_MISSING_"


def _value(part: Field[Any]) -> str:
    if part.default_factory is MISSING:
        return part.name
    return f"_make_{part.name}() if {part.name} is _MISSING_ else {part.name}"


def _comparing(kind: type[Any]) -> dict[str, Any]:
    """`__eq__` and `__hash__`: records of one class, by their fields."""
    names = [part.name for part in fields(kind) if part.compare]
    values: Callable[[Any], Any] = attrgetter(*names) if len(names) > 1 else _each(names)

    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


def _each(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """As attrgetter, a tuple of one or none, too."""
    return lambda self: tuple(getattr(self, name) for name in names)


def _printed(self: Any) -> str:
    shown = ", ".join(f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse_setting(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _stored(self: Any) -> list[Any]:
    return [getattr(self, part.name) for part in fields(self)]


def _restore(self: Any, values: list[Any]) -> None:
    for part, value in zip(fields(self), values, strict=True):
        object.__setattr__(self, part.name, value)


_COMMON: dict[str, Any] = {
    "__repr__": _printed,
    "__setattr__": _refuse_setting,
    "__delattr__": _refuse_deleting,
    "__getstate__": _stored,
    "__setstate__": _restore,
}
