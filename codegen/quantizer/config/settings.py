"""The tables beside the levels: what is rewritten, corrected, searched and mixed, and how outputs are held.

Decides: which keys these tables have, and what they take.  None leaves a choice to the recipe.  What they do is said
where it is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_type_hints

from codegen.quantizer.config.keys import METHODS
from codegen.quantizer.config.kinds import BYTES, COUNT, NAMED, Kind, one_of, real, several, switch, whole, words_of
from codegen.records import record

Switch = Literal["off", "try", "on"]
"""Never, only where the judge finds the network better for it, always."""
SWITCH = switch()


@record(kw_only=True)
class General:
    """Keys of `[quantize]` that are of the whole run."""

    recipe: Annotated[
        Literal["fast", "default", "best"] | None,
        one_of("fast", "default", "best"),
        "How much is tried; what the other tables say goes before it.",
    ] = None
    samples: Annotated[int | None, whole(1, 1 << 20), "The first N calibration samples only."] = None
    seed: Annotated[int | None, whole(0, (1 << 31) - 1), "Of what is drawn by lot."] = None


@record(kw_only=True)
class Rewrite:
    """`[quantize.rewrite]`: the float network is written otherwise, to the same result."""

    equalize: Annotated[Switch | None, SWITCH, "Channels of neighbouring layers are brought to equal ranges."] = None
    equalize_rounds: Annotated[int | None, whole(1, 100), "How often all pairs are gone through."] = None
    level: Annotated[Switch | None, SWITCH, "Channels of a tensor come as far as its widest one."] = None
    absorb: Annotated[Switch | None, SWITCH, "A bias that keeps a channel far from zero moves into the next layer."] = (
        None
    )
    smooth: Annotated[Switch | None, SWITCH, "Wide channels of activations become wide weights (SmoothQuant)."] = None
    smooth_share: Annotated[
        float | None, real(0, 1), "How much of the range moves into the weights: 0 none, 1 all."
    ] = None
    relu6_to_relu: Annotated[Switch | None, SWITCH, "ReLU6 becomes ReLU, which changes the float network."] = None


@record(kw_only=True)
class Correct:
    """`[quantize.correct]`: what is mended once ranges are known."""

    bias: Annotated[
        Literal["none", "analytic", "empirical"] | None,
        one_of("none", "analytic", "empirical"),
        "Biases take up the mean error: not, computed from that of the weights, or measured layer by layer.",
    ] = None
    weights: Annotated[
        Literal["nearest", "feedback", "descent"] | None,
        one_of("nearest", "feedback", "descent"),
        "How weights are rounded: each alone, the error handed on to the next, or searched for the layer's result.",
    ] = None
    pixels: Annotated[int | None, whole(16, 65536), "Places of each sample that a layer is judged by."] = None


@record(kw_only=True)
class Search:
    """`[quantize.search]`: several ways of finding ranges are tried."""

    methods: Annotated[tuple[str, ...] | None, several(words_of(METHODS)), "The methods that are tried."] = None
    each: Annotated[Literal["model", "layer"] | None, one_of("model", "layer"), "What one method is chosen for."] = None
    turns: Annotated[
        Literal["off", "try"] | None,
        one_of("off", "try"),
        "Whether tensors get narrower or wider ranges one after the other, by what the network gives then.",
    ] = None
    samples: Annotated[int | None, whole(1, 1 << 20), "Samples that judge and set no range."] = None
    measure: Annotated[
        Literal["sqnr", "cosine"] | None,
        one_of("sqnr", "cosine"),
        "What outputs are judged by.",
    ] = None


@record(kw_only=True)
class Mixed:
    """`[quantize.mixed]`: widths that are chosen layer by layer."""

    weights: Annotated[tuple[int, ...] | None, several(whole(2, 8)), "Bits that a layer's weights may have."] = None
    activations: Annotated[tuple[int, ...] | None, several(whole(8, 8, 16)), "Bits that a layer's result may have."] = (
        None
    )
    first: Annotated[int | None, whole(0, 64), "Layers from the inputs on whose weights keep 8 bits."] = None
    last: Annotated[int | None, whole(0, 64), "Layers before the outputs whose weights keep 8 bits."] = None
    max_drop: Annotated[float | None, real(0, 100), "Points of the score that may be lost, with `--eval`."] = None
    flash: Annotated[int | None, BYTES, "Flash that the network may take."] = None
    arena: Annotated[int | None, BYTES, "Working memory that it may take."] = None
    instructions: Annotated[int | None, COUNT, "Instructions of one run."] = None


@record(kw_only=True)
class Learning:
    """`[quantize.learning]`: what training with the chip's arithmetic does; nothing else reads it."""

    observe: Annotated[
        int | None, whole(1, 4096), "Batches that pass as real numbers, to find the ranges that training begins with."
    ] = None


@record(kw_only=True)
class Io:
    """`[quantize.io]`: how the network's outputs are held, and which of them it is given again."""

    outputs: Annotated[
        Literal["quantized", "float"] | None,
        one_of("quantized", "float"),
        "Whether outputs are integers, or the real numbers of the last layer.",
    ] = None
    states: Annotated[
        tuple[tuple[str, str], ...] | None,
        NAMED,
        "Inputs that are states, each with the output that it becomes in the next run: both have the same integers, and"
        " samples without an array for them are the steps of a sequence.",
    ] = None


def kinds_of(table: type[Any]) -> Mapping[str, Kind]:
    """The keys of a table, with what they take."""
    return {key: kind for key, (kind, _) in _annotated(table).items()}


def sentences_of(table: type[Any]) -> Mapping[str, str]:
    """The keys of a table, with what each says."""
    return {key: says for key, (_, says) in _annotated(table).items()}


def _annotated(table: type[Any]) -> dict[str, tuple[Kind, str]]:
    return {key: hint.__metadata__ for key, hint in get_type_hints(table, include_extras=True).items()}
