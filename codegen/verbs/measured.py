"""A project to be measured: what a board runs, which has more memory than the chip that it is emulated for.

Decides: that weights are C arrays, wherever they are asked to lie, and that those of a blob need not fit the flash.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from codegen.frontends import model_digest
from codegen.options import Options
from codegen.pipeline import Compiled, reach, read_model, written
from codegen.planning import met, of_chip
from codegen.toolkit import HOUSE, Toolkit


def compile_to_measure(model: Path, options: Options, tools: Toolkit = HOUSE) -> Compiled:
    """Model file to files that a board runs.

    Whether the network fits its chip goes by where its weights are asked to lie: a blob is no part of the image.
    """
    target, plain = met(options.plain, model)
    judged = replace(plain, weights=of_chip(options, target).weights)
    reached = reach(read_model(model, plain, target, tools), target, judged, tools)
    return written(reached, target, plain, model_digest(model), tools)
