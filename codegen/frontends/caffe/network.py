"""From a prototxt to the layers that run: text, old spellings, and which layers are there when nobody trains.

Decides: that a network is read as Caffe's phase TEST, at level 0, with no stage.  Leaves the meaning of the layers to
their translators.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.protobuf import text_format  # type: ignore[import-untyped,unused-ignore]

from codegen.errors import CaffemodelAlone, LayerParameterBad, ModelTooLarge, ModelUnreadable, PrototxtBad, first_line
from codegen.frontends.caffe.schema import message_class
from codegen.frontends.caffe.weights import ENDING
from codegen.frontends.files import read_model_file
from codegen.records import record
from codegen.settle.builder import MAX_NODES

MAX_TEXT_BYTES = 8 * 2**20
_TEST = 1
_SOLVER = ("base_lr:", "net:", "train_net:")
_RENAMED = {
    "ABSVAL": "AbsVal",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "EUCLIDEAN_LOSS": "EuclideanLoss",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "LRN": "LRN",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "MVN": "MVN",
    "RELU": "ReLU",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "TANH": "TanH",
}
"""Old types whose new names are not their words in capitals."""


@record(eq=False)
class Layer:
    """One layer.  `told` are its parameters as the file has them; `place` is its number in the file."""

    name: str
    op_type: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]
    told: Any
    place: int

    @property
    def where(self) -> str:
        """The layer as errors name it."""
        return f"layer '{self.name}' ({self.op_type})"

    @property
    def result(self) -> str:
        """What its first result is called: its top, or itself where it writes over what it reads."""
        return self.name if not self.tops or self.tops[0] in self.bottoms else self.tops[0]

    def param(self, name: str) -> Any:
        """The parameters of one kind of layers, each with its default where the file, or the old spelling, has none."""
        spoken = self.told if name in type(self.told).DESCRIPTOR.fields_by_name else message_class("LayerParameter")()
        return getattr(spoken, name)


@record(eq=False)
class Network:
    """The inputs that the file declares by itself, with the sizes it gives them, and the layers in order."""

    name: str
    inputs: tuple[tuple[str, tuple[int, ...] | None], ...]
    layers: tuple[Layer, ...]


def read_network(path: Path) -> Network:
    """The network of a prototxt.

    Raises:
        ModelMissing: LAM-IMPORT-002.
        ModelUnreadable: LAM-IMPORT-003.
        ModelTooLarge: LAM-IMPORT-004.
        PrototxtBad: LAM-IMPORT-060.
        LayerParameterBad: LAM-IMPORT-064.
        CaffemodelAlone: LAM-IMPORT-065.
    """
    if path.suffix == ENDING:
        raise CaffemodelAlone("these are the weights of a network, not the network", where=str(path))
    told = _parsed(_text(path), str(path))
    if told.layer and told.layers:
        raise PrototxtBad("has layers of both spellings, `layer` and `layers`", where=str(path))
    layers = told.layer or told.layers
    if len(layers) > MAX_NODES:
        raise ModelTooLarge(f"{len(layers)} layers, at most {MAX_NODES} are read", where=str(path))
    kept = tuple(_layer(told, place) for place, told in enumerate(layers) if _is_there(told))
    if not kept:
        raise PrototxtBad("has no layers that run outside training", where=str(path))
    return Network(told.name or path.stem, _inputs(told, str(path)), kept)


def _text(path: Path) -> str:
    try:
        text = read_model_file(path, MAX_TEXT_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ModelUnreadable("the file is no text", where=str(path), hint="a prototxt is text: check the path")
    return text


def _parsed(text: str, where: str) -> Any:
    try:
        return text_format.Parse(text, message_class("NetParameter")())
    except (text_format.ParseError, RecursionError, ValueError) as error:
        hint = "this is a solver's file: give the network that it names"
        solves = any(line.strip().startswith(_SOLVER) for line in text.splitlines())
        raise PrototxtBad(_said(error), where=where, hint=hint if solves else None) from error


def _said(error: Exception) -> str:
    """What protobuf says of a text, in the words of the format."""
    return first_line(error).replace('Message type "caffe.', 'at a message "').replace("has no field named", "no field")


def _inputs(told: Any, where: str) -> tuple[tuple[str, tuple[int, ...] | None], ...]:
    """Inputs at the head of a file: four sizes each, or a shape each."""
    shapes: Sequence[tuple[int, ...] | None] = [tuple(s.dim) for s in told.input_shape]
    if told.input_dim:
        shapes = [tuple(told.input_dim[at : at + 4]) for at in range(0, len(told.input_dim), 4)]
    if told.input_dim and told.input_shape:
        raise LayerParameterBad("both input_dim and input_shape", where=where)
    if shapes and (len(shapes) != len(told.input) or len(told.input_dim) % 4):
        raise LayerParameterBad(f"{len(told.input)} inputs and sizes for {len(shapes)}", where=where)
    return tuple(zip(told.input, shapes or [None] * len(told.input), strict=True))


def _layer(told: Any, place: int) -> Layer:
    kind = told.type
    if not isinstance(kind, str):
        word = type(told).DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number[kind].name
        kind = _RENAMED.get(word) or "".join(part.capitalize() for part in word.split("_"))
    return Layer(told.name or f"{kind}{place}", kind, tuple(told.bottom), tuple(told.top), told, place)


def _is_there(told: Any) -> bool:
    """Whether a layer runs outside training."""
    if told.include:
        return any(map(_is_met, told.include))
    return not any(map(_is_met, told.exclude))


def _is_met(rule: Any) -> bool:
    """Whether phase TEST at level 0 without stages is what the rule says."""
    levels = rule.min_level <= 0 and (rule.max_level >= 0 or not rule.HasField("max_level"))
    phase = not rule.HasField("phase") or rule.phase == _TEST
    return phase and levels and not rule.stage
