"""Small torch networks, the digits, and a few steps of training.  Needs torch: import it behind `require_module`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from codegen.train import Prepared, prepare
from tests.support.shared import ROOT

torch.set_num_threads(1)  # small batches: threads that wait for each other only slow the others down
DIGITS = ROOT / "examples" / "digits"


class Block(nn.Module):
    """A convolution and its normalization."""

    def __init__(self, inputs: int, outputs: int, size: int = 3, groups: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, padding=size // 2, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x))


class Residual(nn.Module):
    """A block around which the input goes."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = Block(channels, channels), Block(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class Small(nn.Module):
    """What the digits example is made of, with fewer channels."""

    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.stem = Block(1, channels)
        self.depthwise = Block(channels, channels, groups=channels)
        self.pointwise = Block(channels, channels, 1)
        self.pool = nn.MaxPool2d(2)
        self.residual = Residual(channels)
        self.classify = nn.Linear(channels, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.depthwise(torch.relu(self.stem(x))))
        x = self.residual(self.pool(torch.relu(self.pointwise(x))))
        return self.classify(x.mean((2, 3)))


def images(count: int | None = None) -> Tensor:
    """The digits that are in the repository, [n, 1, 8, 8]."""
    parts = [np.load(DIGITS / f"digits_{name}.npz")["x"] for name in ("calib", "test")]
    return torch.from_numpy(np.concatenate(parts)[:count])


def settled(net: nn.Module, x: Tensor) -> nn.Module:
    """The network with normalizations that have seen something."""
    net.train()
    with torch.no_grad():
        for _ in range(3):
            net(x)
    return net.eval()


def seeded(make: Callable[[], nn.Module], x: Tensor, seed: int = 0) -> nn.Module:
    """A network of these weights for ever."""
    torch.manual_seed(seed)
    return settled(make(), x)


def trained(net: nn.Module, x: Tensor, config: Any = None, *, steps: int = 4, **words: Any) -> Prepared:
    """A few steps away from where it began, every parameter moved, in evaluation mode."""
    prepared = prepare(net, x, config, **words)
    prepared.observe([x])
    prepared.train()
    weights = {"params": prepared.network.parameters(), "lr": 3e-3}
    optimizer = torch.optim.Adam([weights, {"params": list(prepared.range_parameters()), "lr": 1e-3}])
    wanted = torch.arange(len(x)) % 10
    for _ in range(steps):
        loss = nn.functional.cross_entropy(prepared(x).flatten(1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return prepared.eval()
