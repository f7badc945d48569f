"""The original model as its RealGraph, in numpy: the engine float for TFLite models, and for ONNX without ONNX Runtime.

Decides: that arrays have the model's own types at the border, so that a quantized model takes and gives integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codegen.errors import DataDoesNotFit, DumpUnsupported
from codegen.frontends import Vocabulary, is_tflite, read_real, stored_inputs
from codegen.golden.interface import in_model_type
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.options import ShapePairs
from codegen.real.engine import RealEngine
from codegen.real.storage import Dequantize, Quantize
from codegen.settle.borders import output_name
from codegen.verbs.float_engine import FloatPort
from codegen.verbs.held import Held
from codegen.verbs.tflite_engines import TflitePort


class RealModel(Held):
    """One RealGraph.  `note` is what the user should know of why it runs."""

    def __init__(self, model: Path, shapes: ShapePairs = (), note: str = "", known: Vocabulary | None = None) -> None:
        """Read the model."""
        self.note = note
        self._graph = read_real(model, shapes=dict(shapes), known=known or Vocabulary())
        self._engine = RealEngine(self._graph)
        self.inputs = _ports(model, self._graph)

    def run(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by the model's names."""
        missing = [p.name for p in self.inputs if p.name not in sample]
        if missing:
            raise DataDoesNotFit(f"no array for input {missing[0]!r}", where=", ".join(sample))
        feeds = {p.name: _real(self._graph, p.name, in_model_type(sample[p.name], p)) for p in self.inputs}
        results = self._engine.run(feeds)
        ports = {p.name for p in self.inputs}
        names = zip(self._graph.outputs, self._graph.faces, strict=True)
        return {output_name(face, ports): _held(self._graph, name, results[name]) for name, face in names}

    def dump(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """Refused: LAM-API-007."""
        raise DumpUnsupported("gives outputs only", where="engine float")


def _ports(model: Path, graph: RealGraph) -> tuple[FloatPort | TflitePort, ...]:
    if is_tflite(model):
        from codegen.frontends.tflite import read_ports

        return tuple(TflitePort(*port) for port in read_ports(model)[0])
    stored = stored_inputs(model)
    kinds = ((name, graph.type(name)) for name in graph.inputs)
    return tuple(FloatPort(name, kind.shape, kind.dtype.name, *stored.get(name, ())) for name, kind in kinds)


def _real(graph: RealGraph, name: str, array: Array) -> Array:
    """Numbers of the model's own type as the real numbers that they hold."""
    stored = graph.values[name].stored
    return array if stored is None else Dequantize(stored).evaluate([array])[0]


def _held(graph: RealGraph, name: str, array: Array) -> Array:
    """Real numbers as what the model holds them in."""
    stored = graph.values[name].stored
    return array if stored is None else Quantize(stored).evaluate([array])[0]
