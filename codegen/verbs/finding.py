"""What a network finds in the data's own pictures: outputs by the `[postprocess]` table, boxes in the data's pixels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codegen.errors import PostprocessMissing
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.postprocess import Decoder
from codegen.preprocess import Data, Placing, load_preprocess
from codegen.records import record
from codegen.verbs.postprocess import decoder_of


@record(eq=False)
class Finder:
    """A decoder, and the way back from the network's picture."""

    decoder: Decoder
    placing: Placing

    def found(self, index: int, outputs: Mapping[str, Array]) -> dict[str, Array]:
        """What the outputs for sample `index` mean."""
        made = self.decoder.run(outputs)
        return made | {"box": self.placing.boxes(made["box"], index)}


def finder(config: Path | None, graph: Graph, data: Data) -> Finder:
    """What finds boxes; LAM-POSTPROCESS-003 without a table of a detector."""
    decoder = None if config is None else decoder_of(config, graph)
    if config is None or decoder is None:
        raise PostprocessMissing("no [postprocess] table", where=str(config or "--config"))
    if not decoder.finds_boxes:
        raise PostprocessMissing("its decoder finds no boxes", where=str(config))
    return Finder(decoder, Placing(load_preprocess(config), data.arrays))
