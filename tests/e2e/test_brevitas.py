"""Files of Brevitas's own export (QCDQ): weights and activations of fewer bits are a Clip between integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import codegen
from tests.support.tools import require_module
from tests.support.training import images


@pytest.mark.parametrize("bits", [(8, 8), (4, 4), (2, 8)], ids=lambda bits: f"w{bits[0]}a{bits[1]}")
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_network_of_brevitas_compiles_to_what_it_answers(bits: tuple[int, int], tmp_path: Path) -> None:
    require_module("torch")
    for name in ("brevitas", "onnxoptimizer"):
        pytest.importorskip(name, reason="not part of any extra: Brevitas is a peer of benchmarks/training.py")
    import torch
    from brevitas import nn as qnn
    from brevitas import quant
    from brevitas.export import export_onnx_qcdq
    from torch import nn

    weights, acts = bits
    torch.manual_seed(1)
    given = quant.Int8ActPerTensorFloat
    net = nn.Sequential(
        qnn.QuantIdentity(act_quant=given, bit_width=8, return_quant_tensor=True),
        qnn.QuantConv2d(1, 8, 3, weight_bit_width=weights, bias_quant=quant.Int32Bias, return_quant_tensor=True),
        qnn.QuantReLU(bit_width=acts, return_quant_tensor=True),
        nn.Flatten(),
        qnn.QuantLinear(288, 10, bias=True, weight_bit_width=weights, bias_quant=quant.Int32Bias),
    )
    x = images(64)
    with torch.no_grad():
        net.train()(x)
        wanted = net.eval()(x).numpy()
    path = tmp_path / "net.onnx"
    export_onnx_qcdq(net, args=x[:1], export_path=str(path), opset_version=17, dynamo=False)
    found = {engine: np.reshape(codegen.run(path, x.numpy(), engine), wanted.shape) for engine in ("golden", "c")}
    assert np.array_equal(found["golden"], found["c"])
    assert np.abs(found["c"] - wanted).max() <= 0.02 * wanted.std()
