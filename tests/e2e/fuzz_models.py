"""Damaged copies of real models through the command line: each ends in an error with an id or in a correct compile.

    python -m tests.e2e.fuzz_models --count 500 --seed 1

prints the share of mutants that reaches each id.  Mutant `index` of `seed` is always the same bytes; `--only INDEX`
runs one again and `--keep DIR` saves the files of those that fail.  Batches run in processes of their own, so that a
native crash counts; a model has a limit of time (the process is ended by SIGALRM) and of address space.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import onnx
import pytest

from codegen.cli import main as lamina
from codegen.process import run_program
from codegen.spread import Spread, spread_over
from tests.e2e.mutations import BYTES, FIELDS
from tests.e2e.tflite_mutations import change_numbers, places
from tests.support.shared import ROOT, shared_dir
from tests.support.tflite_cases import MAKERS, draw
from tests.support.tflite_state_cases import STATE_MAKERS, draw_state

COMPILE_S = 20.0
VERIFY_S = 120.0
MEMORY_BYTES = 4 << 30
BATCH = 25

_REAL = (
    "mlperf_tiny_onnx/ad_qdq.onnx",
    "mlperf_tiny_onnx/kws_qdq.onnx",
    "mlperf_tiny_onnx/resnet8_qdq.onnx",
    "mlperf_tiny_onnx/resnet8_qop_u8s8.onnx",
    "mlperf_tiny_onnx/vww_qdq.onnx",
    "onnx/espcn_x3_qdq.onnx",
    "onnx/mnist_cnn_qdq.onnx",
)
_REAL_TFLITE = (
    "mlperf_tiny/kws_int8.tflite",
    "mlperf_tiny/kws_dynrange.tflite",
    "mlperf_tiny/resnet8_int8.tflite",
    "mlperf_tiny/strww_int8.tflite",
    "tflite/hello_world_f32.tflite",
    "tflite/hello_world_int8.tflite",
    "tflite/micro_speech_int8.tflite",
)
_OPTIONS = (
    (),
    (),
    ("-t", "generic"),
    ("-t", "cortex-m4"),
    ("--io-type", "model"),
    ("--io-layout", "model"),
    ("--weights", "blob"),
    ("--requant", "tflite"),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One damaged copy.  `options` are arguments of the compilation."""

    index: int
    source: str
    kind: str
    options: tuple[str, ...]
    data: bytes
    suffix: str = ".onnx"

    @property
    def name(self) -> str:
        return f"m{self.index:05}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a mutant ended: "compiled", "verified" or the ids of its errors; `fault` says what must not be."""

    mutant: Mutant
    ids: tuple[str, ...]
    fault: str
    seconds: float
    text: str


def sources() -> tuple[Path, ...]:
    """Models to damage: small real ones where they are there, and the examples."""
    found = sorted((ROOT / "examples").glob("*/*.onnx"))
    with contextlib.suppress(pytest.skip.Exception):
        found += [shared_dir() / "models" / name for name in _REAL]
    return tuple(found)


def mutants(count: int, seed: int, start: int = 0) -> Iterator[Mutant]:
    """Mutants start .. start + count - 1 of a seed.  Two of three are valid protobuf."""
    models = {path: path.read_bytes() for path in sources()}
    parsed = {path: onnx.ModelProto.FromString(data) for path, data in models.items()}
    for index in range(start, start + count):
        rng = random.Random(f"{seed}:{index}")
        path = rng.choice(tuple(models))
        options = rng.choice(_OPTIONS)
        kind, data = _bytes(rng, models[path]) if index % 3 == 0 else _fields(rng, parsed[path])
        yield Mutant(index, path.stem, kind, options, data)


def tflite_sources() -> dict[str, bytes]:
    """TFLite models to damage: small real ones where they are there, and one of each operator."""
    found = {f"{name}_{kind}": draw(name, kind, 3).data for name, (_, kinds) in MAKERS.items() for kind in kinds}
    for name, (_, kinds) in STATE_MAKERS.items():
        found |= {f"{name}_{kind}": draw_state(name, kind, 3).data for kind in kinds}
    with contextlib.suppress(pytest.skip.Exception):
        found |= {f"real_{i}": (shared_dir() / "models" / name).read_bytes() for i, name in enumerate(_REAL_TFLITE)}
    return found


def tflite_mutants(count: int, seed: int, start: int = 0) -> Iterator[Mutant]:
    """As `mutants`, of TFLite models: half are real, most have odd numbers where the reader looks."""
    models = tflite_sources()
    real = [name for name in models if name.startswith("real_")] or list(models)
    known: dict[str, list[tuple[int, int]]] = {}
    for index in range(start, start + count):
        rng = random.Random(f"tflite:{seed}:{index}")
        name = rng.choice(real) if index % 2 else rng.choice(tuple(models))
        options = rng.choice(_OPTIONS)
        if index % 4 == 0:
            kind, data = _bytes(rng, models[name])
        else:
            known.setdefault(name, places(models[name]))
            kind, changed = change_numbers(rng, bytearray(models[name]), known[name])
            data = bytes(changed)
        yield Mutant(index, name, kind, options, data, ".tflite")


def _bytes(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    mutate = rng.choice(BYTES)
    return mutate.__name__, bytes(mutate(rng, bytearray(data)))


def _fields(rng: random.Random, original: onnx.ModelProto) -> tuple[str, bytes]:
    model = onnx.ModelProto()
    model.CopyFrom(original)
    wanted = rng.choices((1, 2, 3), (7, 2, 1))[0]
    done: list[str] = []
    for _ in range(100):
        mutate = rng.choice(FIELDS)
        if mutate(rng, model):
            done.append(mutate.__name__)
        if len(done) == wanted:
            break
    return "+".join(done), model.SerializeToString(deterministic=True)


def run(found: Iterable[Mutant], *, verify_every: int = 0, jobs: int = 1, keep: Path | None = None) -> list[Outcome]:
    """Every mutant through `lamina compile`, and each `verify_every`th that compiles through `lamina verify` too."""
    with ThreadPoolExecutor(jobs) as pool:
        results = pool.map(partial(_run_batch, verify_every=verify_every, keep=keep), _batches(found))
        return [outcome for batch in results for outcome in batch]


def run_spread(found: Iterable[Mutant], spread: Spread, *, verify_every: int, keep: Path | None) -> list[Outcome]:
    """The same, batch by batch, by whoever shares the work."""
    results = spread.each(partial(_run_batch, verify_every=verify_every, keep=keep), _batches(found))
    return [outcome for batch in results for outcome in batch]


def _batches(found: Iterable[Mutant]) -> list[list[Mutant]]:
    chosen = list(found)
    return [chosen[i : i + BATCH] for i in range(0, len(chosen), BATCH)]


def _run_batch(batch: Sequence[Mutant], verify_every: int, keep: Path | None) -> list[Outcome]:
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="lamina-fuzz-") as name:
        folder = Path(name)
        for mutant in batch:
            (folder / mutant.name).write_bytes(mutant.data)
        while len(outcomes) < len(batch):
            outcomes += _run_process(batch[len(outcomes) :], folder, verify_every)
        for outcome in outcomes:
            if outcome.fault and keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / outcome.mutant.name, keep / f"{outcome.mutant.source}_{outcome.mutant.name}")
    return outcomes


def _run_process(batch: Sequence[Mutant], folder: Path, verify_every: int) -> list[Outcome]:
    """Outcomes of a process up to the one that ended it, of which there is at least one."""
    work = [{"index": m.index, "name": m.name, "options": m.options} for m in batch]
    task = json.dumps({"folder": str(folder), "verify_every": verify_every, "work": work})
    done = run_program(
        [sys.executable, "-m", "tests.e2e.fuzz_models", "--worker"],
        cwd=ROOT,
        timeout_s=(COMPILE_S + VERIFY_S) * len(batch) + 60,
        stdin=task.encode(),
    )
    lines = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    outcomes = [
        Outcome(m, tuple(r["ids"]), r["fault"], r["seconds"], r["text"]) for m, r in zip(batch, lines, strict=False)
    ]
    if len(outcomes) < len(batch):
        last = done.stderr.decode("utf-8", errors="replace")[-2000:]
        timed_out = done.returncode == -signal.SIGALRM
        fault = "out of time" if timed_out else f"the process ended with exit code {done.returncode}"
        outcomes.append(Outcome(batch[len(outcomes)], (), fault, 0.0, last))
    return outcomes


# In the process of a batch


def _worker() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    task = json.load(sys.stdin)
    folder = Path(task["folder"])
    for item in task["work"]:
        verify = bool(task["verify_every"]) and item["index"] % task["verify_every"] == 0
        print(json.dumps(_one(folder, item["name"], item["options"], verify)), flush=True)


def _one(folder: Path, name: str, options: Sequence[str], verify: bool) -> dict[str, Any]:
    began = time.monotonic()
    model, out = folder / name, folder / f"{name}.project"
    before = set(folder.iterdir())
    code, stdout, stderr = _lamina(["compile", str(model), "-o", str(out), *options, "--json"], COMPILE_S)
    made = {p.name for p in set(folder.iterdir()) - before}
    ids, fault = _judge(code, stdout, stderr)
    if made != ({out.name} if code == 0 else set()):
        fault = fault or f"left behind: {sorted(made)}"
    shutil.rmtree(out, ignore_errors=True)
    if code == 0 and not fault and verify:
        given = [o for o in options if not o.startswith("--io-") and o != "model"]
        given = [] if given == ["-t", "cortex-m4"] else given
        code, stdout, stderr = _lamina(["verify", str(model), "--samples", "1", *given, "--json"], VERIFY_S)
        ids, fault = _judge(code, stdout, stderr)
        ids = ids if code else ["verified"]
        fault = fault or (f"verify: {stdout}{stderr}"[:3000] if code else "")
    return {"ids": ids, "fault": fault, "seconds": time.monotonic() - began, "text": stderr}


def _lamina(arguments: Sequence[str], limit_s: float) -> tuple[int, str, str]:
    """One command of the command line, in this process; the alarm ends it even in native code."""
    stdout, stderr = io.StringIO(), io.StringIO()
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = lamina(arguments)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return code, stdout.getvalue(), stderr.getvalue()


def _judge(code: int, stdout: str, stderr: str) -> tuple[list[str], str]:
    """Ids, and what is wrong with this way to end."""
    lines = stderr.splitlines()
    if code == 0:
        return ["compiled"], f"said on standard error: {stderr}" if lines else ""
    ids = [line.split(" ", 1)[0] for line in lines]
    if code != 1 or not ids:
        return ids, f"exit code {code}: {stderr}"
    if "LAM-INTERNAL-001" in ids:
        return ids, stderr
    if not all(i.startswith("LAM-") for i in ids) or len(stderr) > 60_000:
        return ids, f"a message that is no refusal, or a very long one: {stderr[:2000]}"
    listed = [e["id"] for e in json.loads(stdout)["errors"]]
    if not set(ids) <= {*listed, "LAM-IMPORT-001"}:
        return ids, f"JSON lists {listed}, text {ids}"
    return listed, ""


# The command


def shares(outcomes: Sequence[Outcome]) -> str:
    """A table: each id, the mutants that reach it (a model may have several errors), and their share."""
    counts = Counter(i for o in outcomes for i in dict.fromkeys(o.ids or ("process ended",)))
    total = max(len(outcomes), 1)
    return "\n".join(f"{name:22} {n:6}  {100 * n / total:5.1f} %" for name, n in sorted(counts.items()))


def faults(outcomes: Sequence[Outcome]) -> str:
    """One paragraph per mutant that failed."""
    lines = (
        f"#{o.mutant.index} {o.mutant.source} {o.mutant.kind} {' '.join(o.mutant.options)}\n  {_short(o)}"
        for o in outcomes
        if o.fault
    )
    return "\n".join(lines)


def _short(outcome: Outcome) -> str:
    said = outcome.fault if outcome.text in outcome.fault else f"{outcome.fault}\n  {outcome.text}"
    return said.strip()[:1200]


def command(arguments: Sequence[str]) -> int:
    """Parse, run, print; 1 when a mutant failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.fuzz_models", description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=["onnx", "tflite"], default="onnx", help="which models are damaged")
    parser.add_argument("--only", type=int, help="one mutant, by its index; its messages are printed")
    parser.add_argument("--verify-every", type=int, default=5, help="compare C and golden for one in so many; 0: none")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the files of mutants that fail")
    parser.add_argument("--messages", action="store_true", help="print every message")
    parser.add_argument("--scheduler", help="who shares the work, as of `lamina eval`")
    given = parser.parse_args(arguments)
    start, count = (0, given.count) if given.only is None else (given.only, 1)
    began = time.monotonic()
    drawn = (tflite_mutants if given.format == "tflite" else mutants)(count, given.seed, start)
    if given.scheduler is None:
        outcomes = run(drawn, verify_every=given.verify_every, jobs=given.jobs, keep=given.keep)
    else:
        with spread_over(given.scheduler) as spread:
            outcomes = run_spread(drawn, spread, verify_every=given.verify_every, keep=given.keep)
    if given.messages or given.only is not None:
        for o in outcomes:
            print(f"#{o.mutant.index} {o.mutant.source} {o.mutant.kind}\n{o.text}", end="")
    slowest = max(outcomes, key=lambda o: o.seconds)
    print(shares(outcomes))
    print(
        f"{len(outcomes)} mutants, {sum(bool(o.fault) for o in outcomes)} faults, {time.monotonic() - began:.0f} s; "
        f"slowest #{slowest.mutant.index} with {slowest.seconds:.1f} s"
    )
    print(faults(outcomes), end="")
    return int(any(o.fault for o in outcomes))


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        _worker()
    else:
        sys.exit(command(sys.argv[1:]))
