"""Calibration data: what it may be, and which samples set ranges and which judge.

Decides: that samples are drawn by the seed where there are more than are asked for, and that every fifth of them sets
no range, so that what was decided is judged by others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from codegen.errors import CalibrationNotFinite, CountBad, DataDoesNotFit, DataKeyMissing
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.preprocess import read_data, stack, stacked
from codegen.quantizer.observe import Sample, Samples
from codegen.records import record
from codegen.verbs.fed_back import fed_back, one_after_the_other, said_states, states_of
from codegen.verbs.float_engine import FloatPort
from codegen.verbs.kinds import Calibration as Calibration
from codegen.verbs.quantizer_files import preprocess_file
from codegen.verbs.samples import check_count, open_samples, samples_of

_JUDGING = 5
"""Every how many-th sample judges."""
_MOST = 512
"""Samples that are used without being asked for."""


class Asking(Protocol):
    """What the samples of a quantization are chosen by."""

    @property
    def config(self) -> str | Path | None:
        """The file with the `[preprocess]` table."""
        ...

    @property
    def samples(self) -> int | None:
        """How many at most."""
        ...

    @property
    def seed(self) -> int | None:
        """Of the choice."""
        ...


@record(eq=False)
class Chosen:
    """Some of the samples, in order."""

    source: Samples
    places: tuple[int, ...]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.places)

    def __getitem__(self, index: int, /) -> Sample:
        """One of them."""
        return self.source[self.places[index]]

    def first(self, count: int) -> Chosen:
        """The first of them."""
        return Chosen(self.source, self.places[:count])


@record(eq=False)
class Held:
    """Samples that set ranges, and samples that judge; `where` is what errors call them."""

    ranging: Chosen
    judging: Chosen
    where: str


def calibration_of(graph: RealGraph, given: Calibration | None, asking: Asking, judging: int | None = None) -> Held:
    """The samples of a calibration, for the inputs of a float network; errors as of `open_samples`.

    `judging` of them set no range: every fifth, where no number is given.
    """
    check_count(asking.samples)
    source, where = all_samples(graph, given, asking.config)
    count = min(len(source), asking.samples or _MOST)
    rng = np.random.default_rng(asking.seed or 0)
    drawn = rng.permutation(len(source))[:count] if count < len(source) else range(count)
    chosen = sorted(int(i) for i in drawn)
    apart = chosen[_JUDGING - 1 :: _JUDGING] if judging is None else _spread(chosen, judging)
    check_finite(source, apart)
    ranging = [i for i in chosen if i not in set(apart)]
    return Held(Chosen(source, tuple(ranging)), Chosen(source, tuple(apart or chosen)), where)


def _spread(chosen: Sequence[int], count: int) -> list[int]:
    """So many of the samples, evenly spread; LAM-API-012 where none is left."""
    if count >= len(chosen):
        raise CountBad(f"{count} of {len(chosen)} samples judge", hint="let at least one set ranges")
    return [chosen[(i + 1) * len(chosen) // count - 1] for i in range(count)]


def check_finite(source: Samples, places: Sequence[int]) -> None:
    """LAM-QUANT-022 for a sample that judges or compares; those that set ranges are looked at as the network runs."""
    for place in places:
        for name, array in source[place].items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise CalibrationNotFinite("holds NaN or infinity", where=f"sample {place}, tensor '{name}'")


def all_samples(graph: RealGraph, given: Calibration | None, config: str | Path | None) -> tuple[Samples, str]:
    """Every sample of what was given, for the inputs of a float network, and what errors call them."""
    names, said = _names(given), said_states(graph, config)
    states = states_of(graph, names) if graph.ties else {}
    states |= {state: output for state, output in said.items() if state not in names}
    ports = [FloatPort(n, graph.type(n).shape, graph.type(n).dtype.name) for n in graph.inputs if n not in states]
    _check_states(graph, names, [port.name for port in ports])
    if not states:
        return _opened(ports, given, config)
    given, steps = _in_steps(given, ports)
    source, where = _opened(ports, given, config)
    return fed_back(graph, source, states, steps), where


def _check_states(graph: RealGraph, given: Collection[str], wanted: Sequence[str]) -> None:
    """LAM-API-004 for inputs without an array that an output looks like, since they may be states."""
    missing = [name for name in wanted if name not in given] if set(given) & set(wanted) else []
    alike = {name: [o for o in graph.outputs if graph.type(o) == graph.type(name)] for name in missing}
    if missing and all(alike.values()):
        pairs = ", ".join(f'{name} = "{outputs[0]}"' for name, outputs in alike.items())
        hint = f"give them, or name them in --config where they are states: [quantize.io] states = {{ {pairs} }}"
        raise DataKeyMissing(f"no array for {', '.join(missing)}", where="the samples", hint=hint)


def _in_steps(given: Calibration | None, ports: Sequence[FloatPort]) -> tuple[Calibration | None, int]:
    """Sequences as the steps of one after the other, and how many steps each has; 0 where all are one."""
    arrays = read_data(given)[0].arrays if isinstance(given, str | Path) else given
    if isinstance(arrays, np.ndarray):
        arrays = {"x": arrays}
    if not isinstance(arrays, Mapping):
        return given, 0
    flat, steps = one_after_the_other({name: np.asarray(x) for name, x in arrays.items()}, ports)
    return (flat, steps) if steps else (given, 0)


def _names(given: Calibration | None) -> Collection[str]:
    """The names of the arrays that were given, where they have names."""
    if isinstance(given, str | Path):
        return read_data(given)[0].arrays
    if isinstance(given, Mapping):
        return given
    first = given[0] if isinstance(given, Sequence) and len(given) else None
    return first if isinstance(first, Mapping) else ()


def _opened(ports: Sequence[FloatPort], given: Calibration | None, config: str | Path | None) -> tuple[Samples, str]:
    file = preprocess_file(None if config is None else Path(config))
    if isinstance(given, str | Path):
        return open_samples(Path(given), ports, file), str(given)
    arrays = _arrays(given, ports)
    return samples_of(arrays, ports, file), "the arrays"


def _arrays(given: Any, ports: Sequence[FloatPort]) -> dict[str, Array]:
    """Arrays of samples by the inputs' names, or as `x`."""
    if isinstance(given, np.ndarray):
        return {"x": given}
    if isinstance(given, Mapping):
        return {str(name): stack([array], f"'{name}'")[0] for name, array in given.items()}
    if isinstance(given, np.generic) or not isinstance(given, Iterable):
        raise DataDoesNotFit(f"{type(given).__name__}: neither a file, nor an array, nor samples", where="the samples")
    listed = list(given)
    if not listed:
        raise DataDoesNotFit("no samples", where="the samples")
    if not all(isinstance(sample, Mapping) for sample in listed):
        return {"x": stack(listed, "them")}
    return stacked(listed, [p.name for p in ports])
