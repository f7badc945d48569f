"""How good a quantized network is: the SQNR of its outputs against the float network's, in dB.

Decides: what is asked.  The quick judge runs the network's real numbers, rounded to integers; the true one settles it
and runs the compiled C, or the numpy golden model where there is no C compiler.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from codegen.errors import ToolMissing
from codegen.frontends import real_bytes
from codegen.ir.real import RealGraph
from codegen.options import Options
from codegen.quantizer.applied import applied
from codegen.quantizer.measure import output_sqnr, outputs_of
from codegen.quantizer.observe import Sample, Samples
from codegen.quantizer.places import Places
from codegen.quantizer.scheme import Scheme
from codegen.records import record
from codegen.settle.borders import output_name
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.engines import Engine, Opening, open_engine
from codegen.verbs.ort_runner import best_runner

_MODEL = "network.onnx"


class Judge:
    """Knows the float network's outputs of some samples, which set no range."""

    def __init__(self, graph: RealGraph, samples: Samples, options: Options, toolkit: Toolkit = HOUSE) -> None:
        self._samples, self._toolkit = samples, toolkit
        self._options = replace(options, vectors=0)
        self._wanted = outputs_of(graph, samples, best_runner(outputs_only=True))

    def quick(self, graph: RealGraph) -> float:
        """SQNR of the real numbers that integers would hold."""
        return output_sqnr(self._wanted, outputs_of(graph, self._samples, best_runner(outputs_only=True)))

    def __call__(self, graph: RealGraph) -> Judgement:
        """SQNR of the integer network in the target's arithmetic; what settling or compiling refuses is raised."""
        with _opened(graph, self._options, Opening(toolkit=self._toolkit, brief=True)) as (engine, name):
            ports = {p.name for p in engine.inputs}
            kinds = {p.name: p.model_dtype for p in engine.inputs}
            made = [engine.run(_typed(self._samples[i], kinds)) for i in range(len(self._samples))]
        named = [{face: one[output_name(face, ports)] for face in self._wanted[0]} for one in made]
        return Judgement(output_sqnr(self._wanted, named), name, len(made))


def _typed(sample: Sample, kinds: Mapping[str, str]) -> Sample:
    """A sample of the float model, whole numbers in the type that the quantized one takes them in: int64 are int32."""
    return {n: a.astype(kinds[n]) if a.dtype.kind in "iu" and n in kinds else a for n, a in sample.items()}


def quick_judge(places: Places, judge: Judge) -> Callable[[Scheme], float]:
    """SQNR of real numbers rounded as a scheme's integers hold them."""
    return lambda scheme: judge.quick(applied(places.graph, scheme).live())


@record
class Judgement:
    """SQNR in dB, the engine that gave it, and over how many samples."""

    sqnr: float
    engine: str
    samples: int


@contextmanager
def _opened(graph: RealGraph, options: Options, opening: Opening) -> Iterator[tuple[Engine, str]]:
    """The compiled network; the golden model where nothing compiles C."""
    with tempfile.TemporaryDirectory(prefix="lamina-judge-") as folder:
        path = Path(folder) / _MODEL
        path.write_bytes(real_bytes(graph))
        try:
            engine, name = open_engine("c", path, options, opening), "c"
        except ToolMissing:
            engine, name = open_engine("golden", path, options, opening), "golden"
        with engine:
            yield engine, name
