"""Random TFLite models that keep something between runs; their cases' inputs are steps, one after the other.

What interpreters make of them is compared in tests/e2e/test_tflite_states.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tests.support.recurrent_cases import lstm, svdf
from tests.support.tflite_cases import Draw, Drawn


class Variables:
    """Some variables of one shape and meaning, and the numbers at hand while operators are drawn."""

    def __init__(self, d: Draw, count: int) -> None:
        self.d = d
        self.shape = d.shape(int(d.rng.integers(2, 5)), 5)
        self.meaning = d.scale(0.01, 0.1), d.zero()
        self.names = [("" if d.flag() else "box", f"kept{i}") for i in range(count)]
        self.once = [d.flag() for _ in self.names]
        x = d.x(self.shape, *self.meaning)
        if any(self.once):
            d.op("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=1)
        self.handles = self.declare()
        self.assigned: set[int] = set()
        self.found = [x]
        for which in range(count):
            if d.size(0, 3):
                self.read(which)

    def declare(self) -> list[int]:
        """The variables' handles in the subgraph that is being written."""
        handles = []
        for container, name in self.names:
            handles.append(self.d.tensor((1,), "resource"))
            options = {"Container": container, "SharedName": name}
            self.d.op("VAR_HANDLE", [], [handles[-1]], "VarHandleOptions", **options)
        return handles

    def tensor(self, shape: tuple[int, ...] | None = None) -> int:
        return self.d.tensor(self.shape if shape is None else shape, self.d.kind, *self.meaning)

    def any(self) -> int:
        """One of the numbers at hand, the latest one as likely as all others."""
        return self.found[-1] if self.d.flag() else int(self.d.pick(*self.found))  # type: ignore[call-overload]

    def step(self) -> None:
        """One operator more."""
        d, kind = self.d, int(self.d.rng.integers(5))
        which = int(d.rng.integers(len(self.names)))
        if kind <= 1:
            self.read(which)
        elif kind == 2:
            self.assign(which)
        elif kind == 3:
            a, b = self.any(), self.any()
            self.found.append(self.tensor())
            d.op("ADD", [a, b], [self.found[-1]], "AddOptions")
        else:
            self.shifted()

    def read(self, which: int) -> None:
        self.found.append(self.tensor())
        self.d.op("READ_VARIABLE", [self.handles[which]], [self.found[-1]])

    def assign(self, which: int) -> None:
        self.d.op("ASSIGN_VARIABLE", [self.handles[which], self.any()], [])
        self.assigned.add(which)

    def shifted(self) -> None:
        """Two tensors side by side along an axis, and a window of their size that moves over both."""
        d, axis = self.d, int(self.d.rng.integers(len(self.shape)))
        a, b, start = self.any(), self.any(), d.size(0, self.shape[axis])
        wide = self.tensor(tuple(n * 2 if i == axis else n for i, n in enumerate(self.shape)))
        d.op("CONCATENATION", [a, b], [wide], "ConcatenationOptions", Axis=axis)
        starts = np.array([start if i == axis else 0 for i in range(len(self.shape))], np.int32)
        self.found.append(self.tensor())
        d.op("SLICE", [wide, d.const(starts), d.const(np.array(self.shape, np.int32))], [self.found[-1]])

    def begin(self) -> None:
        """The subgraph that CALL_ONCE runs."""
        if not any(self.once):
            return
        self.d.subgraph("begin")
        handles = self.declare()
        for handle, wanted in zip(handles, self.once, strict=True):
            if wanted:
                self.d.op("ASSIGN_VARIABLE", [handle, self.d.const(self.d.ints(self.shape), *self.meaning)], [])


def variables(d: Draw) -> Drawn:
    """Reads and assignments in any order, of one variable to three; outputs are any of the numbers."""
    made = Variables(d, d.size(1, 3))
    for _ in range(d.size(3, 12)):
        made.step()
    for which in set(range(len(made.names))) - made.assigned:
        made.assign(which)
    d.graph.outputs += dict.fromkeys((made.any(), made.any()))
    last = made.tensor()
    d.op("ADD", [made.any(), made.found[0]], [last], "AddOptions")
    d.graph.outputs = [i for i in d.graph.outputs if i != made.found[0]] + [last]
    found = d.case(6)
    made.begin()
    return Drawn(d.bytes(), found.inputs)


def cache(d: Draw, shape: tuple[int, ...] = ()) -> Drawn:
    """A variable into which each run puts a row at a place that it is given, as a cache of keys does."""
    shape = shape or (1, *(d.size(2, 6) for _ in range(d.size(1, 3))))
    row = (*shape[:-2], 1, shape[-1])
    meaning = d.scale(0.01, 0.1), d.zero()
    given = [d.input(row, d.kind, *meaning), d.input((len(shape),), "int32")]
    handle, kept = d.tensor((1,), "resource"), d.tensor(shape, d.kind, *meaning)
    d.op("VAR_HANDLE", [], [handle], "VarHandleOptions", Container="", SharedName="cache")
    d.op("READ_VARIABLE", [handle], [kept])
    following = d.output(shape, d.kind, *meaning)
    d.op("DYNAMIC_UPDATE_SLICE", [kept, *given], [following], "DynamicUpdateSliceOptions", version=2)
    d.op("ASSIGN_VARIABLE", [handle, following], [])
    places = [np.array([d.rng.integers(-1, n + 2) for n in shape], np.int32) for _ in range(6)]
    return Drawn(d.bytes(), tuple((d.ints(row), place) for place in places))


Maker = Callable[[Draw], Drawn]

STATE_MAKERS: Mapping[str, tuple[Maker, tuple[str, ...]]] = {
    "ASSIGN_VARIABLE": (variables, ("int8", "int16")),
    "DYNAMIC_UPDATE_SLICE_KEPT": (cache, ("int8", "int16")),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (lambda d: lstm(d).case, ("int8", "int16")),
    "SVDF": (lambda d: svdf(d, str(d.pick("int8", "int16"))).case, ("int8",)),
}
"""As tests/support/tflite_cases.py: MAKERS."""

TOGETHER = {"VAR_HANDLE", "READ_VARIABLE", "CALL_ONCE"}
"""Operators that are drawn along with ASSIGN_VARIABLE."""


def draw_state(name: str, kind: str, seed: int) -> Drawn:
    """The same case for the same arguments."""
    maker, _ = STATE_MAKERS[name]
    return maker(Draw(np.random.default_rng([seed, *name.encode(), *kind.encode()]), kind))
