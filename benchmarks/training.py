"""What training with the chip's arithmetic gives, on the digits: int8, W4A4, weights of 2 bits, powers of two.

    python benchmarks/training.py [--schemes int8 w4a4 w2a8 pot] [--epochs 20] [--seeds 2024] [--no-peer] [--json]

The network of examples/digits is trained in float32 by its own script, and goes on from there in each scheme, by
Lamina and by Brevitas, where that is installed: the same float network, batches, epochs, optimizer and loss.  Scores
are of the held-out images, by which nothing is chosen; Lamina's are of the exported file's integers, run in C, which
must be those of the module.  The first and the last layer's weights have 8 bits, as has the last result; Brevitas's
last result is float.  Needs the extra `train`; minutes on one core.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import codegen  # noqa: E402
from codegen.report.table import text_table  # noqa: E402
from codegen.train import export, prepare  # noqa: E402

BATCH = 64
OBSERVED = 8
SMOOTHING = 0.05
RATE, RANGE_RATE = 1e-3, 1e-3
LAST = {"name": "output", "bits": 8}
AROUND_ZERO = {"symmetric": True, "narrow_range": True}
"""Weights of 4 bits as Brevitas has them."""
SCHEMES: dict[str, dict[str, Any]] = {
    "int8": {},
    "w4a4": {"quantize": {"weights": {"bits": 4, **AROUND_ZERO}, "activation": {"bits": 4}}, "tensor": [LAST]},
    "w2a8": {"quantize": {"weights": {"bits": 2}}},
    "pot": {"quantize": {"scale": "pot", "weights": {"granularity": "tensor"}}},
}
BITS = {"int8": (8, 8), "w4a4": (4, 4), "w2a8": (2, 8), "pot": (8, 8)}
HEADERS = ["seed", "scheme", "by", "right", "%", "to float", "as the module", "s"]


def digits() -> ModuleType:
    """The example's own script."""
    spec = importlib.util.spec_from_file_location("digits_train", ROOT / "examples" / "digits" / "train.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Run:
    """One float network and its data."""

    def __init__(self, seed: int, epochs: int) -> None:
        self.example, self.epochs, self.seed = digits(), epochs, seed
        torch.manual_seed(seed)
        train, held_out = self.example.load_split()
        self.net = self.example.train(train)
        self.train = tuple(map(torch.from_numpy, train))
        self.held_out = tuple(map(torch.from_numpy, held_out))

    def right(self, logits: Any) -> int:
        """Of the held-out images."""
        return int((torch.as_tensor(np.asarray(logits)).argmax(1) == self.held_out[1]).sum())

    def fit(self, net: nn.Module, ranges: list[Any], rest: list[Any]) -> None:
        """The same for everybody."""
        torch.manual_seed(self.seed)
        x, y = self.train
        steps = self.epochs * -(-len(x) // BATCH)
        groups = [{"params": rest, "lr": RATE}, {"params": ranges, "lr": RANGE_RATE}]
        optimizer = torch.optim.Adam([g for g in groups if g["params"]])
        rates = [g["lr"] for g in optimizer.param_groups]
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rates, total_steps=steps)
        net.train()
        for _ in range(self.epochs):
            for batch in torch.randperm(len(x)).split(BATCH):
                logits = net(self.example.shifted(x[batch]))
                loss = nn.functional.cross_entropy(logits, y[batch], label_smoothing=SMOOTHING)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
        net.eval()

    def batches(self) -> list[Tensor]:
        """What ranges are found by."""
        return list(self.train[0][: OBSERVED * BATCH].split(BATCH))


def ours(run: Run, scheme: str) -> tuple[int, str]:
    """Right answers of the C, and whether they are the module's."""
    x = run.held_out[0]
    prepared = prepare(run.net, x[:BATCH], SCHEMES[scheme])
    prepared.observe(run.batches())
    run.fit(prepared, list(prepared.ranges.parameters()), list(prepared.network.parameters()))
    logits = codegen.run(export(prepared), x.numpy(), "c")
    same = np.array_equal(np.asarray(logits), prepared(x).numpy())
    return run.right(logits), "yes" if same else "NO"


def brevitas(run: Run, scheme: str) -> tuple[int, str]:
    """Right answers of Brevitas's network, in its own arithmetic on real numbers."""
    net = quantized(run.net, scheme)
    with torch.no_grad():
        net.train()
        for batch in run.batches():
            net(batch)
    named = list(net.named_parameters())
    ranges = [p for name, p in named if "scaling" in name]
    run.fit(net, ranges, [p for name, p in named if "scaling" not in name])
    with torch.no_grad():
        return run.right(net(run.held_out[0])), ""


def quantized(net: nn.Module, scheme: str) -> nn.Module:
    """The digits network of Brevitas's layers, with the float network's weights."""
    import brevitas.nn as qnn
    from brevitas import quant

    w, a = BITS[scheme]
    pot = scheme == "pot"
    weights = quant.Int8WeightPerTensorFixedPoint if pot else quant.Int8WeightPerChannelFloat
    acts = quant.Int8ActPerTensorFixedPoint if pot else quant.Int8ActPerTensorFloat
    relus = quant.Uint8ActPerTensorFixedPoint if pot else quant.Uint8ActPerTensorFloat
    told = {"return_quant_tensor": True}

    def layer(block: nn.Module, bits: int) -> nn.Module:
        conv = fuse_conv_bn_eval(block.conv, block.norm)
        made = qnn.QuantConv2d(
            conv.in_channels,
            conv.out_channels,
            conv.kernel_size,
            padding=conv.padding,
            groups=conv.groups,
            bias=True,
            weight_quant=weights,
            weight_bit_width=bits,
            bias_quant=quant.Int32Bias,
            **told,
        )
        made.weight.data, made.bias.data = conv.weight.data.clone(), conv.bias.data.clone()
        return made

    def relu() -> nn.Module:
        return qnn.QuantReLU(act_quant=relus, bit_width=a, collect_stats_steps=OBSERVED, **told)

    def identity(bits: int = a) -> nn.Module:
        return qnn.QuantIdentity(act_quant=acts, bit_width=bits, collect_stats_steps=OBSERVED, **told)

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.given = identity(8)
            self.stem, self.stem_relu = layer(net.stem, 8), relu()
            self.depthwise, self.depthwise_relu = layer(net.depthwise, w), relu()
            self.pointwise, self.pointwise_relu = layer(net.pointwise, w), relu()
            self.first, self.first_relu = layer(net.residual.first, w), relu()
            self.second, self.second_held, self.out = layer(net.residual.second, w), identity(), relu()
            self.mean = identity()
            self.classify = qnn.QuantLinear(
                24, 10, bias=True, weight_quant=weights, weight_bit_width=8, bias_quant=quant.Int32Bias
            )
            self.classify.weight.data = net.classify.weight.data.clone()
            self.classify.bias.data = net.classify.bias.data.clone()

        def forward(self, x: Tensor) -> Tensor:
            x = self.stem_relu(self.stem(self.given(x)))
            x = self.depthwise_relu(self.depthwise(x))
            x = nn.functional.max_pool2d(self.pointwise_relu(self.pointwise(x)), 2)
            y = self.second_held(self.second(self.first_relu(self.first(x))))
            x = self.out(x.value + y.value)
            return self.classify(self.mean(x.value.mean((2, 3))))

    return Net()


def rows(run: Run, schemes: list[str], peer: bool) -> list[list[Any]]:
    """The float network's row, and two for each scheme."""
    total = len(run.held_out[1])
    with torch.no_grad():
        best = run.right(run.net(run.held_out[0]))
    made = [[run.seed, "float", "", f"{best} of {total}", f"{100 * best / total:.2f}", "", "", ""]]
    ways: list[tuple[str, Callable[[Run, str], tuple[int, str]]]] = [("Lamina", ours)]
    ways += [("Brevitas", brevitas)] if peer else []
    for scheme in schemes:
        for by, way in ways:
            begun = time.perf_counter()
            right, same = way(copy.copy(run), scheme)
            lost = f"{100 * (right - best) / total:+.2f}"
            taken = f"{time.perf_counter() - begun:.0f}"
            made.append([run.seed, scheme, by, f"{right} of {total}", f"{100 * right / total:.2f}", lost, same, taken])
            print(*made[-1], file=sys.stderr, flush=True)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemes", nargs="+", choices=list(SCHEMES), default=list(SCHEMES))
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", nargs="+", type=int, default=[2024])
    parser.add_argument("--no-peer", action="store_true", help="leave Brevitas out")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    peer = not asked.no_peer and importlib.util.find_spec("brevitas") is not None
    found = [row for seed in asked.seeds for row in rows(Run(seed, asked.epochs), asked.schemes, peer)]
    print(
        json.dumps([dict(zip(HEADERS, row, strict=True)) for row in found])
        if asked.json
        else text_table(HEADERS, found)
    )


if __name__ == "__main__":
    main()
