"""compare of a quantized model with the float one that it was made from, tensor by tensor."""

from __future__ import annotations

from pathlib import Path

from codegen.errors import NothingInCommon
from codegen.frontends import Vocabulary, metadata_of, read_real
from codegen.ir.real import RealGraph
from codegen.options import Options
from codegen.quantizer.numbers import TensorNumbers
from codegen.quantizer.observe import Progress
from codegen.quantizer.rewrite.exact import rewritten
from codegen.quantizer.rewrite.moved import Moved, told_moved
from codegen.quantizer.versus import unmatched, versus
from codegen.records import record
from codegen.report.sensitive import QuantComparison
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.calibration import Calibration, Chosen, all_samples, check_finite
from codegen.verbs.float_source import given_graph
from codegen.verbs.ort_runner import best_runner
from codegen.verbs.samples import check_count
from codegen.verbs.sources import ModelSource, file_of, shown, takes_model

_MOST = 32
"""Samples that are used without being asked for."""


@record(kw_only=True, eq=False)
class Beside:
    """What a float model is compared with, and by which samples: as `Quantizing` takes them.

    `numbers`: histograms and pairs of each tensor are wanted besides.
    """

    quantized: ModelSource
    given: Calibration
    config: str | Path | None = None
    samples: int | None = None
    progress: Progress | None = None
    numbers: bool = False
    toolkit: Toolkit = HOUSE


@takes_model
def compare_quantized(model: ModelSource, options: Options, how: Beside) -> QuantComparison:
    """Each tensor of the float model that the quantized one holds as integers.

    Raises:
        NothingInCommon: LAM-QUANT-027.
    """
    known = how.toolkit.vocabulary
    quantized, moved, name = _read(how.quantized, options, known)
    graph = _like(given_graph(file_of(model), options, known), quantized)
    for port in quantized.inputs:
        if port not in graph.inputs or graph.type(port).shape != quantized.type(port).shape:
            raise NothingInCommon(f"input '{port}' is none of the float model's", where=name)
    check_count(how.samples)
    source, _ = all_samples(graph, how.given, how.config)
    chosen = Chosen(source, tuple(range(min(len(source), how.samples or _MOST))))
    check_finite(source, chosen.places)
    seen: list[TensorNumbers] | None = [] if how.numbers else None
    tensors = versus(graph, quantized, chosen, best_runner(), how.progress, moved, seen)
    if not tensors:
        raise NothingInCommon("no tensor of one is a tensor of the other", where=name)
    return QuantComparison(
        model=shown(file_of(model)),
        quantized=name,
        samples=len(chosen),
        tensors=tensors,
        unmatched=unmatched(graph, quantized),
        numbers=tuple(seen or ()),
    )


def _like(given: RealGraph, quantized: RealGraph) -> RealGraph:
    """The float network as it is or as the quantizer rewrites it, whichever has more of the quantized one's tensors."""
    return min((given, rewritten(given)), key=lambda graph: len(unmatched(graph, quantized)))


@takes_model
def _read(model: ModelSource, options: Options, known: Vocabulary) -> tuple[RealGraph, dict[str, Moved] | None, str]:
    """A model's network, what its file says of its channels, and how the user knows it."""
    file = file_of(model)
    graph = read_real(file, shapes=dict(options.shapes), known=known)
    shapes = {name: value.type.shape for name, value in graph.values.items()}
    return graph, told_moved(metadata_of(file), shapes), shown(file)
