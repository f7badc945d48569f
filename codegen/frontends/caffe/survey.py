"""Reads as much of a Caffe network as can be read, for `inspect`, as it would be quantized, with made-up ranges."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from codegen.errors import BiasOutOfRange, ScaleBad
from codegen.frontends.caffe.inputs import DATA_LAYERS
from codegen.frontends.caffe.real.importer import RealReader
from codegen.frontends.caffe.real.translators import TRAINING
from codegen.frontends.shapes import Given
from codegen.frontends.survey import SourceNode, Survey
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.quant import Mode
from codegen.quantizer.rehearsal import rehearsed
from codegen.settle.surveying import surveyed


def survey_caffe(path: Path, *, mode: Mode, shapes: Given | None = None, known: Vocabulary = HOUSE) -> Survey:
    """Every problem of the network, and what can be read of it; raises what `import_caffe` raises of files."""
    with np.errstate(all="ignore"):
        reader = RealReader(path, shapes)
        graph = rehearsed(reader.graph().live())
        walk = surveyed(graph, mode, joined=known.rules)
    found = [e for e in walk.with_those_of(reader.problems) if not isinstance(e, ScaleBad | BiasOutOfRange)]
    refused = {**walk.refused, **reader.refused}
    run = (layer for layer in reader.network.layers if layer.op_type not in (*DATA_LAYERS, *TRAINING))
    nodes = tuple(SourceNode(layer.name, layer.op_type, refused.get(layer.name, "")) for layer in run)
    return Survey(walk.partial(), tuple(found), True, tuple(walk.inputs), nodes)
