"""The walk over a Caffe network's layers that makes a RealGraph, and all its problems at once.

Decides: that the results are the blobs which no layer reads that runs outside training, as Caffe has it.
"""

from __future__ import annotations

from pathlib import Path

from codegen.errors import (
    CompileError,
    FormUnsupported,
    InputMissing,
    ModelRejected,
    NameTwice,
    OperatorUnknown,
    PrototxtBad,
)
from codegen.frontends.caffe.inputs import DATA_LAYERS, inputs_of, shaped_inputs
from codegen.frontends.caffe.network import Layer, Network, read_network
from codegen.frontends.caffe.real.reading import Reading
from codegen.frontends.caffe.real.translators import BOTTOMS, TRAINING, TRANSLATORS
from codegen.frontends.shapes import Given
from codegen.ir.real import RealGraph, RealType
from codegen.real.elementwise import Function
from codegen.settle.walk import Problem

_READ = "docs/operators.md lists the layers that are read"


def read_real(path: Path, *, shapes: Given | None = None) -> RealGraph:
    """The RealGraph of a Caffe network, with the weights that lie beside its text.

    Args:
        path: the prototxt; the caffemodel has its name with another ending.
        shapes: of inputs, which go before those of the file.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the network.
        CompileError: LAM-IMPORT-002 .. 065, when the files cannot be read at all.
    """
    reader = RealReader(path, shapes)
    graph = reader.graph()
    if reader.problems:
        raise ModelRejected([p.error for p in reader.problems], where=str(path))
    return graph.live()


class RealReader:
    """One pass over a network.  `problems` are what is wrong, and where; `refused` the layers that have them."""

    def __init__(self, path: Path, shapes: Given | None) -> None:
        self.network: Network = read_network(path)
        self.problems: list[Problem] = []
        self.refused: dict[str, str] = {}
        self._reading = Reading(path)
        self._shapes = shapes or {}
        self._lost: set[str] = set()
        self._open: dict[str, None] = {}
        """Blobs that no layer has read yet."""

    def graph(self) -> RealGraph:
        """As much of the network as can be read."""
        run = [layer for layer in self.network.layers if layer.op_type not in TRAINING]
        read = frozenset(bottom for layer in run for bottom in layer.bottoms)
        for name, shape in shaped_inputs(inputs_of(self.network, read), self._shapes):
            self._reading.blobs[name] = self._reading.input(name, RealType(shape))
        for layer in self.network.layers:
            if layer.op_type == "Silence":
                self._close(layer)
            elif layer.op_type not in (*DATA_LAYERS, *TRAINING):
                self._read(layer)
        return self._finished()

    def _finished(self) -> RealGraph:
        built = self._reading
        faces = tuple(name for name in self._open if name in built.blobs)
        if not faces and not self.problems:
            self.problems.append(Problem(0, _without_results(self.network)))
        outputs: list[str] = []
        for face in faces:
            outputs.append(self._own(face, taken=(*built.inputs, *outputs)))
        name, inputs = self.network.name, tuple(built.inputs)
        return RealGraph(
            name, built.values, tuple(built.nodes), inputs, tuple(outputs), "onnx", faces, tuple(built.notes)
        )

    def _own(self, face: str, taken: tuple[str, ...]) -> str:
        """The value of an output; a copy of one that is an input or another output too."""
        built = self._reading
        value = built.blobs[face]
        if value not in taken:
            return value
        layer = next(layer for layer in reversed(self.network.layers) if face in layer.tops)
        return built.write(Function("Identity"), [value], [face], layer, face)[0]

    def _close(self, layer: Layer) -> None:
        for bottom in layer.bottoms:
            self._open.pop(bottom, None)

    def _read(self, layer: Layer) -> None:
        """Translate a layer; one that reads what was refused is passed over."""
        count = len(self._reading.nodes)
        try:
            self._check_blobs(layer)
            if self._lost.intersection(layer.bottoms):
                self._lose(layer)
                return
            values = self._translated(layer)
        except CompileError as error:
            del self._reading.nodes[count:]
            self._refuse(layer, error)
            return
        self._close(layer)
        self._reading.blobs.update(zip(layer.tops, values, strict=True))
        self._open.update(dict.fromkeys(layer.tops))

    def _check_blobs(self, layer: Layer) -> None:
        """Refuse bottoms that nothing has written yet, and tops that something has written already."""
        known = self._reading.blobs.keys() | self._lost
        for bottom in layer.bottoms:
            if bottom not in known:
                later = any(bottom in other.tops for other in self.network.layers if other.place >= layer.place)
                hint = "layers run in the order of the file, without circles: put its maker before it"
                found = f"nothing before it writes '{bottom}'"
                raise InputMissing(found, where=layer.where, hint=hint if later else "correct the name of the bottom")
        twice = [top for top in layer.tops if top in known and top not in layer.bottoms]
        if twice or len(set(layer.tops)) < len(layer.tops):
            raise NameTwice(f"another layer writes '{(twice or layer.tops)[0]}' too", where=layer.where)

    def _translated(self, layer: Layer) -> list[str]:
        if layer.op_type not in TRANSLATORS:
            found = f"layers of type {layer.op_type or 'none'} are not supported"
            raise OperatorUnknown(found, where=layer.where, hint=_READ)
        least, most = BOTTOMS.get(layer.op_type, (1, 1))
        if not least <= len(layer.bottoms) <= most or not layer.tops:
            found = f"{len(layer.bottoms)} bottoms and {len(layer.tops)} tops"
            raise InputMissing(found, where=layer.where, hint="the layer is incomplete: correct the prototxt")
        values = TRANSLATORS[layer.op_type](self._reading, layer)
        if len(values) != len(layer.tops):
            raise FormUnsupported(f"{len(layer.tops)} tops", where=layer.where, hint=f"it has {len(values)}")
        return list(values)

    def _refuse(self, layer: Layer, error: CompileError) -> None:
        if not error.where:
            error.where = layer.where
        self.problems.append(Problem(len(self._reading.nodes), error))
        self.refused[layer.name] = error.code
        self._lose(layer)

    def _lose(self, layer: Layer) -> None:
        self._lost.update(layer.tops)
        for top in layer.tops:
            self._reading.blobs.pop(top, None)


def _without_results(network: Network) -> CompileError:
    """The refusal of a network all of whose layers are of training, or silent."""
    found = "no layer that runs outside training has a result"
    return PrototxtBad(
        found, where=network.name, hint="give the network that is deployed: its last layer's top is the result"
    )
