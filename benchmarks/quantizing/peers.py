"""Quantizers that pip installs: which of their ways are tried in which scheme, and how one is run.

Each may have a virtual environment of its own, FOLDER/NAME with the name that pip knows it by, since what they pin does
not go together; those that the running Python has are taken from it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx

from quantizing.data import Array

_SCRIPT = Path(__file__).with_name("other_tools.py")
_OPSET = 17
"""Of the file that every tool is given; ONNX Runtime's own writer raises it where it must."""
_MODULES = {"onnxruntime": "onnxruntime", "nncf": "nncf"}
"""What may be taken from the running Python."""
_LAST = 90
"""Characters of what a tool says where it fails."""


@dataclass(frozen=True)
class Peer:
    """One way of one tool; `learned`: it trains weights or thresholds, which takes minutes."""

    name: str
    tool: str
    variant: str
    schemes: tuple[str, ...]
    learned: bool = False


PEERS = (
    Peer("ORT min-max", "onnxruntime", "MinMax", ("channel", "tensor", "w4", "a16")),
    Peer("ORT 99.99 %", "onnxruntime", "Percentile", ("channel", "tensor", "w4", "a16")),
    Peer("NNCF", "nncf", "fast", ("channel", "tensor")),
    Peer("AIMET enhanced", "aimet-onnx", "enhanced", ("channel", "tensor")),
    Peer("AIMET equalised", "aimet-onnx", "equalised", ("channel", "tensor")),
    Peer("AIMET AdaRound", "aimet-onnx", "adaround", ("channel", "tensor", "w4"), learned=True),
    Peer("Quark", "amd-quark", "nearest", ("channel", "tensor", "pot", "a16")),
    Peer("Quark AdaRound", "amd-quark", "adaround", ("channel", "tensor", "pot"), learned=True),
    Peer("PPQ bias", "esp-ppq", "bias", ("channel", "tensor", "pot")),
    Peer("PPQ TQT", "esp-ppq", "tqt", ("pot",), learned=True),
)


def peers_of(scheme: str, folder: Path | None, *, learned: bool) -> Iterator[tuple[Peer, Path]]:
    """Those that are installed and know the scheme, with the Python that has them."""
    for peer in PEERS:
        python = _python(peer.tool, folder)
        if scheme in peer.schemes and python is not None and (learned or not peer.learned):
            yield peer, python


def _python(tool: str, folder: Path | None) -> Path | None:
    own = None if folder is None else folder / tool / "bin" / "python"
    if own is not None and own.exists():
        return own
    return Path(sys.executable) if tool in _MODULES and find_spec(_MODULES[tool]) else None


def by_peer(peer: Peer, python: Path, scheme: str, model: Path, calib: Array, out: Path) -> tuple[float, float]:
    """A network quantized by a tool: processor seconds and most megabytes.

    Raises:
        RuntimeError: the tool fails; its last line.
    """
    prepared = _prepared(model, out.with_suffix(".prepared.onnx"))
    given = onnx.load(prepared).graph.input[0]
    sizes = [d.dim_value or 1 for d in given.type.tensor_type.shape.dim]
    samples = out.with_suffix(".npz")
    np.savez(samples, **{given.name: calib.reshape(len(calib), *sizes[1:])})
    words = [peer.tool, peer.variant, scheme, *(str(path.resolve()) for path in (prepared, samples, out))]
    argv = [str(python.absolute()), str(_SCRIPT), *words]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=out.parent)  # some leave files there
    if ran.returncode:
        lines = ran.stderr.strip().splitlines() or ["no word"]
        raise RuntimeError(lines[-1][:_LAST])
    seconds, megabytes = ran.stdout.split()[-2:]
    return float(seconds), float(megabytes)


def _prepared(model: Path, out: Path) -> Path:
    """The float network as every tool takes it: one operator set, no weights among the inputs, shapes known.

    Nothing says `allowzero` where that is 0 anyway: PPQ keeps it and writes an operator set that has no such word.
    """
    from onnxruntime.quantization.shape_inference import quant_pre_process

    loaded = onnx.load(model)
    weights = {t.name for t in loaded.graph.initializer}
    for given in [i for i in loaded.graph.input if i.name in weights]:
        loaded.graph.input.remove(given)
    if loaded.opset_import[0].version < _OPSET:
        loaded = onnx.version_converter.convert_version(loaded, _OPSET)
    for number, node in enumerate(loaded.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"
    onnx.save(loaded, out)
    quant_pre_process(str(out), str(out), skip_symbolic_shape=True)
    loaded = onnx.load(out)
    for node in loaded.graph.node:
        for said in [a for a in node.attribute if a.name == "allowzero" and not a.i]:
            node.attribute.remove(said)
    onnx.save(loaded, out)
    return out
