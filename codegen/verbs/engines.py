"""Engines: the ways to run a model on numpy arrays.

`golden` is the specification, `c` the generated code, `float` the original model on real numbers (ONNX Runtime, our
own RealGraph for TFLite and Caffe, and where that is not installed), `litert` and `tflm` the original TFLite model.
Each takes and gives arrays in the model's own layout and type.  A network with state keeps it from one run to the next:
an engine's first run begins as after a reset.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from codegen.emit import write_project
from codegen.errors import EngineUnknown
from codegen.frontends import has_bfloat16, is_caffe, is_tflite
from codegen.golden.interface import PortSpec, graph_ports, in_model_layout, network_feeds
from codegen.golden.interpreter import Stepper
from codegen.host import GoldenAnswers, Network, host_flags
from codegen.ir.images import with_batches
from codegen.ir.quant import Array
from codegen.laws import check_nodes
from codegen.pipeline import Compiled, Options, compile_file, read_model
from codegen.planning import in_flash, met
from codegen.records import record
from codegen.schedule import misfits
from codegen.target import FEATURES, load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.float_engine import FloatEngine, has_runtime
from codegen.verbs.held import Held
from codegen.verbs.real_engine import RealModel
from codegen.verbs.samples import Port
from codegen.verbs.tflite_engines import RUNTIMES, TfliteEngine

_IN_NUMPY = "onnxruntime is not installed: computed in numpy, as a RealGraph"
_OF_ITS_OWN = "operators join that onnxruntime does not know: computed in numpy, as a RealGraph"
_SHORT = "onnxruntime has few operators of bfloat16 for a CPU: computed in numpy, as a RealGraph"
_BRIEF = "-O1"
"""How C is optimised of which few samples are asked: it compiles in two thirds of the time."""
ENGINES = ("golden", "c", "float", *RUNTIMES)


class Engine(Protocol):
    """Runs one model, again and again."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What it takes."""
        ...

    @property
    def note(self) -> str:
        """What the user should know of how it ran; empty when there is nothing."""
        ...

    def run(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by the model's names."""
        ...

    def dump(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """Every tensor, the outputs included."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...

    def __enter__(self) -> Self:
        """For use in a `with` statement."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        ...


@record(kw_only=True)
class Opening:
    """With which tools the model is read and made; whether tensors inside it will be asked for, and few samples run."""

    dump: bool = False
    toolkit: Toolkit = HOUSE
    brief: bool = False


class GoldenEngine(Held):
    """The integer graph as imported, in numpy."""

    note = ""

    def __init__(self, model: Path, options: Options, toolkit: Toolkit = HOUSE) -> None:
        """Read the model."""
        self._graph = read_model(model, options, load_target(options.target), toolkit)
        self._stepper = Stepper(self._graph)
        self.inputs, self._outputs = graph_ports(self._graph)

    def run(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by the model's names."""
        values = self._stepper.run(network_feeds(self.inputs, sample))
        return {port.name: port.to_model(values[port.value]) for port in self._outputs}

    def dump(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """Every tensor as the network holds it, in the model's layout where the model has it, and the outputs."""
        values = self._stepper.run(network_feeds(self.inputs, sample))
        found: dict[str, Array] = {}
        for value in self._graph.values.values():
            if not value.is_const:
                found.setdefault(value.source or value.name, in_model_layout(values[value.name], value.perm))
        return with_batches(found) | {port.name: port.to_model(values[port.value]) for port in self._outputs}


class CEngine(Held):
    """The generated C, compiled once with the host's compiler."""

    note = ""

    def __init__(
        self, model: Path, options: Options, toolkit: Toolkit = HOUSE, *, dump: bool = False, brief: bool = False
    ) -> None:
        """Compile the model to C, and the C to a library; sooner where few samples run (`brief`)."""
        compiled = (_briefly if brief else compile_file)(model, options, toolkit)
        check_nodes(compiled.graph)
        with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
            project = Path(folder) / "project"
            write_project(project, compiled.files)
            answers = GoldenAnswers(compiled.program)
            self._network = Network(project, trace=dump, flags=host_flags(_BRIEF if brief else None), answers=answers)
        self.inputs: tuple[PortSpec, ...] = self._network.inputs

    def run(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by the model's names."""
        return self._network.run(sample)

    def dump(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """Every tensor that the C computes, in the model's layout where the model has it, and the outputs."""
        return with_batches(self._network.trace(sample))

    def close(self) -> None:
        """Unload the library."""
        self._network.close()


def _briefly(model: Path, options: Options, toolkit: Toolkit) -> Compiled:
    """The model compiled as ever, but for weights that lie in a file: a C compiler is slow to read them.

    Weights that do not fit the chip's flash are refused as they are in C.  A chip whose constants have instructions of
    their own has no such files, and those of another byte order are not read here.
    """
    target, settled = met(options, model)
    has_file = "program_memory" not in FEATURES[target.isa] and target.byte_order == sys.byteorder
    if settled.weights == "blob" or not has_file:
        return compile_file(model, options, toolkit)
    compiled = compile_file(model, replace(options, weights="blob"), toolkit)
    for problem in misfits(compiled.plan, in_flash(compiled.program, options), target):
        raise problem
    return compiled


def open_engine(name: str, model: Path, options: Options, opening: Opening | None = None) -> Engine:
    """An engine by name; LAM-API-001 for a name nobody knows."""
    check_engine(name)
    asked = opening or Opening()
    if name == "float":
        return _float_engine(model, options, asked.toolkit)
    if name in RUNTIMES:
        return TfliteEngine(name, model, options.shapes)
    if name == "c":
        return CEngine(model, options, asked.toolkit, dump=asked.dump, brief=asked.brief)
    return GoldenEngine(model, options, asked.toolkit)


def _float_engine(model: Path, options: Options, toolkit: Toolkit) -> Engine:
    """ONNX Runtime for ONNX where it is installed and knows operators and types, our own numpy otherwise."""
    known = toolkit.vocabulary
    if is_tflite(model) or is_caffe(model):
        return RealModel(model, options.shapes)
    if not has_runtime():
        return RealModel(model, options.shapes, _IN_NUMPY, known)
    if known.onnx or has_bfloat16(model):
        return RealModel(model, options.shapes, _OF_ITS_OWN if known.onnx else _SHORT, known)
    return FloatEngine(model, options.shapes)


def check_engine(name: str) -> None:
    """LAM-API-001 for a name nobody knows."""
    if name not in ENGINES:
        raise EngineUnknown(f"no engine {name!r}")
