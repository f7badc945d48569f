"""Operators as functions: `net.onnx` has ONNX's by their names, `net.real` those of the RealGraph by their fields.

Decides: that signatures are those of the operators themselves, read from ONNX's schemas and from the dataclasses.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import codegen.real
from codegen.build.tensor import Tensor
from codegen.errors import CallWrong, OperatorNotCalled

if TYPE_CHECKING:
    from codegen.build.net import Net

_P = inspect.Parameter
_INPUTS = _P("operands", _P.VAR_POSITIONAL)
_NAME = _P("name", _P.KEYWORD_ONLY, default=None, annotation="str | None")
_TOLD = ("name", "outputs", "label", "held")
"""What a call may say besides the operator's fields: see `Net.apply`."""
Made = Tensor | tuple[Tensor, ...]


@cache
def real_operators() -> dict[str, type[Any]]:
    """Every operator of the RealGraph by name."""
    found: dict[str, type[Any]] = {}
    for module in pkgutil.iter_modules(codegen.real.__path__):
        home = importlib.import_module(f"codegen.real.{module.name}")
        for kind in vars(home).values():
            if _is_operator(kind) and kind.__module__ == home.__name__:
                found[kind.__name__] = kind
    return found


def _is_operator(kind: object) -> bool:
    answers = all(callable(getattr(kind, question, None)) for question in ("infer", "evaluate"))
    return isinstance(kind, type) and dataclasses.is_dataclass(kind) and answers


class Operators:
    """Functions by name, made when they are asked for."""

    def __init__(self, names: Callable[[], Iterable[str]], make: Callable[[str], Callable[..., Made]]) -> None:
        self._names = names
        self._make = make

    def __dir__(self) -> list[str]:
        return sorted(name for name in self._names() if name.isidentifier())

    def __getattr__(self, name: str) -> Callable[..., Made]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Callable[..., Made]:
        """The function of an operator; of another domain as `net.onnx["my.domain::Name"]`."""
        known = list(self._names())
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            raise OperatorNotCalled(f"no operator is called {name!r}" + (f"; {close[0]}?" if close else ""))
        return self._make(name)


def real_function(net: Net, name: str) -> Callable[..., Made]:
    """The function of an operator of the RealGraph: inputs, then its fields as keywords."""
    kind = real_operators()[name]
    fields_of = [f for f in dataclasses.fields(kind) if f.init]
    asked = [_P(f.name, _P.KEYWORD_ONLY, default=_default(f), annotation=f.type) for f in fields_of]
    told = [_P(key, _P.KEYWORD_ONLY, default=None) for key in _TOLD if key not in real_fields(kind)]
    signature = inspect.Signature([_INPUTS, *asked, *told], return_annotation=Made)

    def call(*inputs: Any, **words: Any) -> Made:
        bound = _bound(signature, inputs, words, name)
        fields = {field.name: bound[field.name] for field in fields_of if field.name in bound}
        told = {key: bound[key] for key in _TOLD if key in bound and key not in real_fields(kind)}
        return net.apply(_made(kind, fields), *inputs, **told)

    return _dressed(call, name, kind.__doc__, signature)


def real_fields(kind: type[Any]) -> frozenset[str]:
    """The attributes of an operator of the RealGraph."""
    return frozenset(f.name for f in dataclasses.fields(kind) if f.init)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return _P.empty if field.default_factory is dataclasses.MISSING else field.default_factory()


def _made(kind: type[Any], words: dict[str, Any]) -> Any:
    try:
        return kind(**words)
    except (TypeError, ValueError, AssertionError) as error:
        raise CallWrong(f"{error}", where=kind.__name__) from error


def onnx_function(net: Net, name: str, known: tuple[list[str], list[str]] | None) -> Callable[..., Made]:
    """The function of an operator of ONNX: inputs, then its attributes as keywords."""
    if known is None:
        asked = [_P("attributes", _P.VAR_KEYWORD)]
    else:
        names, needed = known
        asked = [_P(n, _P.KEYWORD_ONLY, default=_P.empty if n in needed else None) for n in sorted(names)]
    outputs = _P("outputs", _P.KEYWORD_ONLY, default=1, annotation=int)
    order = [_INPUTS, _NAME, outputs, *asked] if known is None else [_INPUTS, *asked, _NAME, outputs]
    signature = inspect.Signature(order, return_annotation=Made)

    def call(*inputs: Any, **words: Any) -> Made:
        _bound(signature, inputs, words, name)
        given = {key: value for key, value in words.items() if value is not None}
        return net.call_onnx(name, inputs, given.pop("name", None), given.pop("outputs", 1), given)

    return _dressed(call, name, f"ONNX's operator {name}.", signature)


def _bound(signature: inspect.Signature, inputs: Any, words: dict[str, Any], where: str) -> dict[str, Any]:
    try:
        bound = signature.bind(*inputs, **words)
    except TypeError as error:
        raise CallWrong(f"{error}", where=where) from error
    return dict(bound.arguments)


def _dressed(call: Any, name: str, said: str | None, signature: inspect.Signature) -> Callable[..., Made]:
    call.__name__, call.__doc__, call.__signature__ = name, said, signature
    made: Callable[..., Made] = call
    return made
