"""Weights with a scale per block of inputs: their integers are kept, times a factor.  Compared with ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from codegen.kernels import find_form

from .models import Net, agrees


def blocked(net: Net, op_type: str, shape: tuple[int, int], block: int, *, turned: bool = False) -> str:
    """A product of an input by int4 weights [inputs, outputs] with scales of `block` inputs, or these turned."""
    rng, (n_in, n_out) = np.random.default_rng(shape[0]), shape
    ints = rng.integers(-8, 8, (n_out, n_in) if turned else (n_in, n_out))
    scales = rng.uniform(0.01, 0.2, (n_out, -(-n_in // block)) if turned else (-(-n_in // block), n_out))
    net.constants.append(helper.make_tensor("w", TensorProto.INT4, ints.shape, ints.reshape(-1).tolist()))
    scale = net.const(scales.astype(np.float32))
    w = net.op("DequantizeLinear", "w", scale, axis=int(turned), block_size=block)
    x = net.qdq(net.input((3, n_in)), 0.05, n_in % 7)
    return net.op(op_type, x, w, **({"transB": 1} if turned else {}))


@pytest.mark.parametrize(
    ("op_type", "shape", "block", "turned"),
    [("MatMul", (64, 8), 32, False), ("MatMul", (40, 5), 16, False), ("Gemm", (96, 6), 32, True)],
)
def test_blocks_of_inputs_keep_their_integers(
    tmp_path: Path, op_type: str, shape: tuple[int, int], block: int, turned: bool
) -> None:
    net = Net()
    y = blocked(net, op_type, shape, block, turned=turned)
    graph = agrees(net.model(net.qdq(y, 0.4, 3), opset=21, ir_version=10), tmp_path)
    (node,) = [n for n in graph.nodes if type(n.op).__name__ == "Dense"]
    form = find_form(graph.view(node), "c99")
    assert form is not None
    sizes = {field.name: field.nbytes for field in form.params}
    n_in, n_out = shape
    assert (form.kernel, sizes["weights"], sizes["factors"]) == (
        "blocked_group_pairs",
        (n_out + n_out % 2) * n_in // 2,
        2 * (n_out + n_out % 2) * -(-n_in // block),
    )


def test_blocks_along_the_outputs_become_one_scale_per_output(tmp_path: Path) -> None:
    """A weight's row has several scales then only where its outputs do; what is left is 16-bit weights."""
    net = Net()
    ints, scales = np.random.default_rng(3).integers(-8, 8, (8, 6)), np.random.default_rng(4).uniform(0.01, 0.2, (8, 2))
    net.constants.append(helper.make_tensor("w", TensorProto.INT4, ints.shape, ints.reshape(-1).tolist()))
    w = net.op("DequantizeLinear", "w", net.const(scales.astype(np.float32)), axis=1, block_size=3)
    y = net.op("MatMul", net.qdq(net.input((2, 8)), 0.05, 0), w)
    graph = agrees(net.model(net.qdq(y, 0.1, 3), opset=21, ir_version=10), tmp_path)
    (node,) = [n for n in graph.nodes if type(n.op).__name__ == "Dense"]
    assert graph.type(node.inputs[1]).block == 0
