"""Records do what frozen dataclasses of the standard library do, and stand in for them everywhere."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any, ClassVar

import pytest

from codegen.records import record


@record
class Ours:
    """Made by the house."""

    limits: ClassVar[int] = 3
    name: str
    size: int = 2
    parts: list[int] = field(default_factory=list)
    about: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Theirs:
    """Made by the standard library."""

    limits: ClassVar[int] = 3
    name: str
    size: int = 2
    parts: list[int] = field(default_factory=list)
    about: str = field(default="", compare=False, repr=False)


@record(kw_only=True)
class More(Ours):
    """One more field, by keyword; refuses a negative one."""

    more: int
    half: float = 0.5

    def __post_init__(self) -> None:
        if self.more < 0:
            raise ValueError("negative")


@record(eq=False)
class Alone:
    """Equals itself alone."""

    size: int


@record
class Nothing:
    """No fields."""


@record
class Single:
    """One field, called as what a record is made with."""

    keep: int


CALLS: tuple[Callable[[Any], object], ...] = (
    lambda kind: kind("a"),
    lambda kind: kind("a", 3, [1], "b"),
    lambda kind: kind(name="a", parts=[2]),
    lambda kind: kind(),
    lambda kind: kind("a", other=1),
    lambda kind: [f.name for f in fields(kind)],
    lambda kind: replace(kind("a", 3), name="b"),
    lambda kind: kind("a", about="b") == kind("a"),
    lambda kind: kind("a") == kind("a", parts=[1]),
    lambda kind: kind("a") == ("a", 2, [], ""),
    lambda kind: hash(kind("a", parts=())) == hash(kind("a", 2, ())),
    lambda kind: hash(kind("a")),
    lambda kind: setattr(kind("a"), "size", 3),
    lambda kind: delattr(kind("a"), "size"),
    lambda kind: hasattr(kind("a"), "__dict__"),
    lambda kind: pickle.loads(pickle.dumps(kind("a", 5, [1], "c"))),
    lambda kind: copy.deepcopy(kind("a", 5, [1], "c")),
    lambda kind: kind("a").parts is kind("a").parts,
    lambda kind: kind.__match_args__,
)


def said(call: Callable[[Any], object], kind: type[Any]) -> str:
    """What comes of the call, in words without the class's name."""
    try:
        return repr(call(kind)).replace(kind.__name__, "K")
    except (TypeError, FrozenInstanceError) as error:
        return f"{type(error).__name__}: {error}".replace(kind.__name__, "K")


@pytest.mark.parametrize("call", CALLS)
def test_a_record_does_what_a_frozen_dataclass_does(call: Callable[[Any], object]) -> None:
    assert said(call, Ours) == said(call, Theirs)


def test_a_record_inherits_the_fields_of_another() -> None:
    made = More("a", more=4)
    assert (made.name, made.size, made.half) == ("a", 2, 0.5)
    assert made == pickle.loads(pickle.dumps(made)) != Ours("a")
    with pytest.raises(TypeError):
        More("a", 2, [], "", 4)  # type: ignore[misc]
    with pytest.raises(ValueError, match="negative"):
        replace(made, more=-1)


def test_a_record_of_few_fields_is_compared_by_them() -> None:
    assert Nothing() == Nothing()
    assert Single(2) == Single(2) != Single(3)
    assert hash(Single(2)) == hash(Single(2))


def test_a_record_without_equality_equals_itself_alone() -> None:
    one = Alone(2)
    assert one == one != Alone(2)
