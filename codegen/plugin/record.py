"""What a plug-in hands over: its operators, how files name them, how they become integers, and their C.

Decides: what is asked of each part when a plug-in is made, so that a mistake is told before any model is read.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from codegen.errors import PluginClash, PluginWrong
from codegen.ops import OPS
from codegen.ops.case import Case
from codegen.plugin.settling import Integers
from codegen.plugin.sources import HEADER, TEMPLATE, C, Hook
from codegen.records import record

Source: TypeAlias = C | Hook
QUESTIONS = ("infer", "golden", "rows", "macs", "in_place")
"""What every operator answers."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_ONNX = re.compile(r"[A-Za-z][\w.-]*::[A-Za-z]\w*")
_HOUSE_DOMAINS = ("ai.onnx", "ai.onnx.ml", "com.microsoft")


@record(kw_only=True, eq=False)
class Operator:
    """One operator of a plug-in.

    Args:
        kind: its frozen dataclass, with the questions of docs/plugins.md.
        onnx: its domain and name in ONNX models, `my.domain::Name`.
        tflite: its custom code in TFLite models.
        read: from the file's node to an instance of `kind`; by default its fields are attributes of the same names.
        attributes: fields with a default that are attributes too; None for all where there is no `integers`, else for
            none, as it is what sets them.
        integers: the rule of quantization; without it the result keeps the scale of the inputs.
        operands: inputs whose constants `lamina quantize` holds as integers of one scale; others stay real.
        images: it works on images [N, H, W, C], which ONNX has as [N, C, H, W].
        c: its C, in the order in which it is tried.
        cases: makes what the laws are tried on.
    """

    kind: type[Any]
    onnx: str = ""
    tflite: str = ""
    read: Callable[[Any], Any] | None = None
    attributes: Sequence[str] | None = None
    integers: Integers | None = None
    operands: Sequence[int] = ()
    images: bool = False
    c: Sequence[Source] = ()
    cases: Callable[[], Iterable[Case]] | None = None

    def __post_init__(self) -> None:
        """Refuse what is no operator: LAM-PLUGIN-005."""
        where = getattr(self.kind, "__name__", repr(self.kind)[:60])
        for holds, found in _wrong(self):
            if not holds():
                raise PluginWrong(found, where=where)


def _wrong(op: Operator) -> Iterable[tuple[Callable[[], bool], str]]:
    """What has to hold, in order, and what is said where it does not."""
    yield (lambda: isinstance(op.kind, type), "`kind` is no class")
    yield (lambda: dataclasses.is_dataclass(op.kind), "is no dataclass: write @dataclass(frozen=True, slots=True)")
    yield (lambda: op.kind.__dataclass_params__.frozen, "is not frozen: write @dataclass(frozen=True, slots=True)")
    for question in QUESTIONS:
        yield (lambda q=question: callable(getattr(op.kind, q, None)), f"does not answer `{question}`")  # type: ignore[misc]
    yield (lambda: isinstance(getattr(op.kind, "limits", None), tuple), "has no tuple `limits`")
    yield (lambda: isinstance(op.onnx, str) and isinstance(op.tflite, str), "`onnx` and `tflite` are texts")
    yield (lambda: bool(op.onnx or op.tflite), "no file names it: say `onnx` or `tflite`")
    yield (lambda: not op.onnx or bool(_ONNX.fullmatch(op.onnx)), f"`onnx` is {op.onnx!r}: write 'my.domain::Name'")
    domain = op.onnx.partition("::")[0]
    yield (lambda: domain not in _HOUSE_DOMAINS, f"the domain {domain} is not a plug-in's")
    for part in ("read", "integers", "cases"):
        yield (lambda p=part: getattr(op, p) is None or callable(getattr(op, p)), f"`{part}` is no function")  # type: ignore[misc]
    yield (lambda: _are_fields(op), "`attributes` is no tuple of names of fields")
    yield (lambda: _are_counts(op.operands), "`operands` is no tuple of numbers of inputs")
    yield (lambda: isinstance(op.c, tuple | list) and bool(op.c), "has no `c`: give C(...)")
    for source in op.c:
        yield (lambda s=source: isinstance(s, C | Hook), f"`c` holds {source!r:.60}, no C(...) and no Hook(...)")  # type: ignore[misc]
        yield from _wrong_source(source)


def _are_fields(op: Operator) -> bool:
    if op.attributes is None:
        return True
    names = {f.name for f in dataclasses.fields(op.kind) if f.init}
    return isinstance(op.attributes, tuple | list) and names.issuperset(op.attributes)


def _are_counts(given: object) -> bool:
    return isinstance(given, tuple | list) and all(type(i) is int and i >= 0 for i in given)


def _wrong_source(source: Source) -> Iterable[tuple[Callable[[], bool], str]]:
    if isinstance(source, Hook):
        yield from _wrong_hook(source)
        return
    yield (lambda: isinstance(source.file, str) and "/" not in source.file, "`file` is a name, without a folder")
    yield (lambda: source.file.endswith((TEMPLATE, HEADER)), f"{source.file} is no template (.c.j2) and no header (.h)")
    yield (lambda: source.is_template != bool(source.call), "`call` is for a header, which needs it")
    yield (lambda: callable(source.fit), "`fit` is no function")
    yield (lambda: source.run in ("row", "pixels", "whole"), f"`run` is {source.run!r}: row, pixels or whole")


def _wrong_hook(hook: Hook) -> Iterable[tuple[Callable[[], bool], str]]:
    yield (lambda: isinstance(hook.name, str) and bool(_NAME.fullmatch(hook.name)), f"a hook is called {hook.name!r}")
    yield (lambda: callable(hook.fit), "`fit` is no function")
    yield (lambda: isinstance(hook.about, str) and bool(hook.about.strip()), "`about` of a hook says nothing")
    yield (lambda: hook.run in ("row", "whole"), f"`run` is {hook.run!r}: row or whole")
    yield (lambda: bool(hook.reference) == bool(hook.call), "`reference` and `call` of a hook go together")
    yield (lambda: not hook.reference or hook.reference.endswith(HEADER), f"{hook.reference} is no header (.h)")
    yield (lambda: "/" not in hook.reference, "`reference` is a name, without a folder")


@record(kw_only=True, eq=False)
class Plugin:
    """A plug-in: a name of small letters, digits and _, and its operators.

    `folder` is where the files of its C lie: that of the module of its first operator when None.
    """

    name: str
    operators: Sequence[Operator]
    folder: Path | None = None

    def __post_init__(self) -> None:
        """Refuse wrong parts (LAM-PLUGIN-005) and names that are there twice (LAM-PLUGIN-004)."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PluginWrong(f"`name` is {self.name!r}: small letters, digits and _", where="plug-in")
        if not isinstance(self.operators, tuple | list) or not self.operators:
            raise PluginWrong("`operators` is no tuple of operators", where=self.name)
        if any(not isinstance(op, Operator) for op in self.operators):
            raise PluginWrong("`operators` holds what is no Operator(...)", where=self.name)
        self._check_names()

    def _check_names(self) -> None:
        taken = {op.__name__ for op in OPS}
        for op in self.operators:
            for name in filter(None, (op.kind.__name__, op.onnx, f"custom code {op.tflite}" if op.tflite else "")):
                if name in taken:
                    raise PluginClash(f"two operators are called {name}", where=self.name)
                taken.add(name)

    @property
    def place(self) -> Path:
        """Where its files lie."""
        if self.folder is not None:
            return Path(self.folder)
        module = sys.modules.get(self.operators[0].kind.__module__)
        return Path(getattr(module, "__file__", None) or ".").resolve().parent
