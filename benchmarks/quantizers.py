"""Quantized networks beside their float ones: Lamina's through the generated C, other quantizers' beside it.

    python benchmarks/quantizers.py [MODEL ..] [--schemes channel,pot,w4 ..] [--recipe best] [--peers]

Each network is quantized by the same samples and scored on others, which no quantizer sees. Behind the score and the
decibels stands what is asked of them (quantizing/goals.py) where they fall short, and `ok` where they do not. `s` and
`MB` are processor seconds, the judge's C compiler among them, and most memory of a process that quantizes and does
nothing else. Without `--schemes` come those in which something is asked of a network. `--peers` adds what other
quantizers make of it (quantizing/peers.py), `--learned` also those of their ways that train. ONNX Runtime and NNCF are
taken from this Python where it has them; any of them from an environment of its own, as nncf, amd-quark and esp-ppq:

    python -m venv FOLDER/aimet-onnx && FOLDER/aimet-onnx/bin/pip install aimet-onnx
    python benchmarks/quantizers.py kws --peers --learned --environments FOLDER
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from quantizing.data import Array  # noqa: E402
from quantizing.goals import schemes_of, wanted_db, wanted_score  # noqa: E402
from quantizing.measures import Outputs, changed, sqnr  # noqa: E402
from quantizing.peers import Peer, by_peer, peers_of  # noqa: E402
from quantizing.tasks import NAMES, Task, Tasks  # noqa: E402

import codegen  # noqa: E402

SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "channel": {},
    "tensor": {"granularity": "tensor"},
    "pot": {"scales": "pot", "granularity": "tensor"},
    "pot_channel": {"scales": "pot"},
    "w4": {"weights": 4},
    "a16": {"activations": 16},
}
"""What is asked of `codegen.quantizer`."""


Spent = tuple[float, float]
"""Processor seconds, and megabytes at most."""


@dataclass(frozen=True)
class Row:
    """One quantized network: its score, dB, changed predictions in percent, and what quantizing took."""

    model: str
    scheme: str
    maker: str
    score: float
    db: float
    changed: float | None
    seconds: float
    megabytes: float

    def line(self) -> str:
        """As it is printed."""
        shown = "" if self.changed is None else f"{self.changed:.2f}"
        score = _beside(self.score, wanted_score(self.model, self.scheme), ".4g")
        db = _beside(self.db, wanted_db(self.model, self.scheme), ".2f")
        return f"{self.scheme:12}{self.maker:18}{score:>20}{db:>18}{shown:>11}{self.seconds:8.1f}{self.megabytes:7.0f}"


def _beside(found: float, wanted: float | None, form: str) -> str:
    """A figure and whether it is what is asked for."""
    if wanted is None:
        return f"{found:{form}}        "
    rounded = float(f"{found:{form}}")
    return f"{found:{form}} {'ok     ' if rounded >= wanted else f'<{wanted:{form}}':7}"


@dataclass(frozen=True)
class Others:
    """Which other quantizers are asked for."""

    wanted: bool = False
    learned: bool = False
    environments: Path | None = None

    def of(self, scheme: str) -> Iterator[tuple[Peer, Path]]:
        """Those that are installed, with the Python that has them."""
        return peers_of(scheme, self.environments, learned=self.learned) if self.wanted else iter(())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(NAMES), metavar="MODEL", help=", ".join(NAMES))
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--schemes", default="", help=", ".join(SCHEMES))
    parser.add_argument("--recipe", default="")
    parser.add_argument("--peers", action="store_true", help="other quantizers, as far as they are installed")
    parser.add_argument("--learned", action="store_true", help="also those of their ways that train")
    parser.add_argument("--environments", type=Path, help="folder with a virtual environment for each tool")
    given = parser.parse_args()
    others = Others(given.peers or given.learned, given.learned, given.environments)
    with tempfile.TemporaryDirectory() as folder:
        tasks = Tasks(given.shared, Path(folder))
        for name in given.models:
            task = tasks.task(name)
            wanted = through(task.path, task.test, "float")
            print(
                f"\n{name}: float {task.score(wanted, wanted):.4g} {task.measure}, {len(task.test)} samples", flush=True
            )
            print(f"{'scheme':12}{'by':18}{task.measure:>12}{'SQNR dB':>18}{'changed %':>19}{'s':>8}{'MB':>7}")
            for scheme in given.schemes.split(",") if given.schemes else schemes_of(name):
                for row in rows(task, scheme, given.recipe, wanted, Path(folder), others):
                    print(row.line(), flush=True)


def rows(task: Task, scheme: str, recipe: str, wanted: Outputs, folder: Path, others: Others) -> Iterator[Row]:
    """Lamina's network, then the others'."""
    makers: dict[str, Callable[[Path], Spent]] = {
        f"Lamina {recipe}".strip(): lambda p: by_lamina(task, scheme, recipe, p)
    }
    for peer, python in others.of(scheme):
        makers[peer.name] = partial(by_peer, peer, python, scheme, task.path, task.calib)
    for maker, make in makers.items():
        path = folder / f"{task.name}_{scheme}.onnx"
        try:
            with contextlib.redirect_stdout(sys.stderr):
                seconds, megabytes = make(path)
            found = through(path, task.test, "c" if maker.startswith("Lamina") else "float")
        except (ValueError, RuntimeError, codegen.CompileError) as error:  # a fault of a peer's, or a refusal of ours
            print(f"{scheme:12}{maker:18}  {str(error).splitlines()[0][:90]}", flush=True)
            continue
        moved = changed(wanted, found) if task.classes else None
        db = sqnr(wanted, found)
        yield Row(task.name, scheme, maker, task.score(found, wanted), db, moved, seconds, megabytes)


def through(path: Path, samples: Array, engine: str) -> Outputs:
    """A network's outputs for each sample as real numbers: by generated C, or by ONNX Runtime."""
    if engine == "float":
        return _by_onnxruntime(path, samples)
    out = path.with_suffix("")
    project = codegen.compile_model(path, "host", out, io_type="model", io_layout="model", force=True)
    with codegen.load(project) as network:
        return list(network.run({network.inputs[0].name: samples}).values())


def _by_onnxruntime(path: Path, samples: Array) -> Outputs:
    """Raises ValueError for what it cannot load."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    onnxruntime.set_default_logger_severity(3)

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except (state.Fail, state.InvalidGraph) as error:
        raise ValueError(str(error)) from error
    (given,) = session.get_inputs()
    made = [session.run(None, {given.name: _fitting(sample[None], given.shape)}) for sample in samples]
    return [np.concatenate(parts) for parts in zip(*made, strict=True)]


def _fitting(sample: Array, shape: list[Any]) -> Array:
    """A batch of one as the model states it."""
    sizes = [n if isinstance(n, int) else 1 for n in shape]
    return sample.reshape(sizes)


def by_lamina(task: Task, scheme: str, recipe: str, path: Path) -> Spent:
    """Quantize by Lamina, in a process that does nothing else."""
    words = dict(SCHEMES[scheme]) | ({"recipe": recipe} if recipe else {})
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
        return alone.submit(quantized, task.path, task.calib, path, words).result()


def quantized(model: Path, calib: Array, path: Path, words: Mapping[str, Any]) -> Spent:
    """A network written, and what that took."""
    codegen.quantize(model, calib, path, **words)
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(u.ru_utime + u.ru_stime for u in (own, others))
    return seconds, max(own.ru_maxrss, others.ru_maxrss) / 1024


if __name__ == "__main__":
    main()
