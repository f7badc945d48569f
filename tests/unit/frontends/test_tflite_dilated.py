"""Convolutions between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: dilated ones where the chain is exactly that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import ModelRejected
from codegen.frontends.tflite import import_tflite
from codegen.ir.shape import Window
from codegen.ops import Conv2D
from tests.support.tflite_models import Model

Change = Callable[[Model], None]


def chain(crops: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 1)), stride: int = 1) -> Model:
    """Blocks of 2 by 3 of an image of 6 by 7, a window of 3 by 2 with padding SAME."""
    model = Model()
    x = model.input((1, 6, 7, 2), "int8", 0.1, 3)
    block, pads = (model.const(np.array(v, np.int32)) for v in ((2, 3), ((2, 2), (0, 2))))
    many = model.tensor((6, 5, 3, 2), "int8", 0.1, 3)
    model.op("SPACE_TO_BATCH_ND", [x, block, pads], [many], "SpaceToBatchNDOptions")
    weights = model.const(np.ones((4, 3, 2, 2), np.int8), 0.1)
    made = (-(-5 // stride), -(-3 // stride))
    result = model.tensor((6, *made, 4), "int8", 0.2, -5)
    fields = {"StrideH": stride, "StrideW": stride, "DilationHFactor": 1, "DilationWFactor": 1}
    model.op("CONV_2D", [many, weights], [result], "Conv2DOptions", **fields)
    sizes = [n * b - sum(c) for n, b, c in zip(made, (2, 3), crops, strict=True)]
    y = model.output((1, *sizes, 4), "int8", 0.2, -5)
    edges = model.const(np.array(crops, np.int32))
    model.op("BATCH_TO_SPACE_ND", [result, block, edges], [y], "BatchToSpaceNDOptions")
    return model


def written(model: Model, folder: Path) -> Path:
    path = folder / "model.tflite"
    path.write_bytes(model.bytes())
    return path


def test_a_chain_is_one_dilated_convolution(tmp_path: Path) -> None:
    graph = import_tflite(written(chain(((1, 0), (0, 1))), tmp_path), mode="tflite")
    (node,) = graph.nodes
    assert isinstance(node.op, Conv2D)
    # pads of a block's own image count as many rows as a block has; what is cut off is not padded
    assert node.op.h == Window(3, 1, 2, 2 + 2 - 1, 2 + 2)
    assert node.op.w == Window(2, 1, 3, 0, 3 + 2 - 1)


def read_twice(model: Model) -> None:
    model.op("RELU", [3], [model.output((6, 5, 3, 2), "int8", 0.1, 3)])


def given_out(model: Model) -> None:
    model.graph.outputs.append(3)


def another_scale(model: Model) -> None:
    model.graph.tensors[3].scale[:] = 0.5


def other_blocks(model: Model) -> None:
    place = model.const(np.array((3, 2), np.int32))
    model.graph.ops[2][1][1] = place


CHANGES: dict[str, tuple[Model, Change]] = {
    "a stride": (chain(stride=2), lambda model: None),
    "more cut off than padded": (chain(((5, 0), (0, 0))), lambda model: None),
    "another reader": (chain(), read_twice),
    "an output of the network": (chain(), given_out),
    "another scale": (chain(), another_scale),
    "other blocks": (chain(), other_blocks),
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_other_chain_is_read_as_it_stands(what: str, tmp_path: Path) -> None:
    """Six images at once, which no convolution takes."""
    model, change = CHANGES[what]
    change(model)
    with pytest.raises(ModelRejected, match="LAM-OPS-CONV-01"):
        import_tflite(written(model, tmp_path), mode="tflite")


@pytest.mark.parametrize("inputs", [[], [-1, 1, 2]])
def test_a_chain_that_reads_no_image_is_refused(inputs: list[int], tmp_path: Path) -> None:
    model = chain()
    model.graph.ops[0][1][:] = inputs
    with pytest.raises(ModelRejected, match="LAM-IMPORT-015"):
        import_tflite(written(model, tmp_path), mode="tflite")
