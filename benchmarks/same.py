"""Whether two revisions give the same: golden outputs, arena, weights, code, and instructions on emulated chips.

    python benchmarks/same.py main~5                       this tree against a revision, every case
    python benchmarks/same.py main~5 --quick               small models, fewer targets, no emulation

README.md explains the columns.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "models"
MODELS = (
    *(f"mlperf_tiny_onnx/{name}.onnx" for name in ("ad_qdq", "kws_qdq", "kws_qdq_sym", "resnet8_qdq", "vww_qdq")),
    "mlperf_tiny_onnx/resnet8_qop_u8s8.onnx",
    *(f"onnx/{name}_qdq.onnx" for name in ("mnist_cnn", "espcn_x3", "yunet_n_320", "fastestdet_352")),
    *(f"mlperf_tiny/{name}_int8.tflite" for name in ("ad", "kws", "resnet8", "strww", "vww")),
    *(f"tflite/{name}.tflite" for name in ("hello_world_int8", "micro_speech_int8", "mobilenet_v1_025_128_uint8")),
    "tflite/mobilenet_v2_int8.tflite",
)
SMALL = frozenset(m for m in MODELS if any(s in m for s in ("ad_", "kws", "mnist", "hello", "micro_speech")))
_PLAIN = ("cortex-m0plus", "cortex-m3", "rv32imc", "gap8-like", "gap8-cores")
TARGETS = ("host", "cortex-m4", "generic", "cortex-m55", *_PLAIN)
COUNTED = ("cortex-m4", "cortex-m55", "rv32imc")
MODES = ("single", "tflite", "ort")
FREE = 0.003
"""Share by which instructions may differ."""


@dataclass(frozen=True, slots=True)
class Case:
    """One model on one target; without a mode, as the model or the target would have it."""

    model: str
    target: str
    mode: str | None
    counted: bool

    @property
    def name(self) -> str:
        """As the lines of differences begin."""
        return f"{Path(self.model).stem} {self.target} {self.mode or 'default'}"


def cases(quick: bool) -> list[Case]:
    """Every model on every target in the default arithmetic, and on the host in each."""
    models = [m for m in MODELS if not quick or m in SMALL]
    targets = TARGETS[:2] if quick else TARGETS
    found = [Case(m, t, None, not quick and t in COUNTED) for m in models for t in targets]
    return found + [Case(m, "host", mode, False) for m in models for mode in MODES]


# In a tree of its own


def worker() -> None:
    """Reads cases as JSON from standard input, writes one line of facts for each."""
    sys.path.insert(0, os.getcwd())
    for case in json.load(sys.stdin):
        print(json.dumps(facts(Case(**case))), flush=True)


def facts(case: Case) -> dict[str, Any]:
    """What one revision makes of a case; a refusal is a fact too."""
    model = SHARED / case.model
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "project"
        mode = ["--requant", _spelled(case.mode)] if case.mode else []
        code, said = _lamina(["compile", str(model), "-t", case.target, "-o", str(out), "--name", "same", *mode])
        if code:
            return {"refused": said.split(" ", 1)[0]}
        manifest = json.loads((out / "manifest.json").read_text())
        known = {key: manifest[key] for key in ("arena_bytes", "weights_bytes", "scratch_bytes", "macs")}
        known["c"] = _hash(b"".join(p.read_bytes() for p in sorted(out.rglob("*.[ch]"))))
        known["golden"] = _golden(model, manifest, mode) if case.target == "host" else None
        known["instructions"] = _instructions(model, case) if case.counted else None
        return known


def _spelled(mode: str) -> str:
    """A mode as this revision calls it."""
    from codegen.ir.quant import MODES as known

    return mode if mode in known else {"tflite": "double", "ort": "float"}[mode]


def _golden(model: Path, manifest: Mapping[str, Any], mode: Sequence[str]) -> str:
    """A hash of the outputs of two samples, drawn over each input's whole range."""
    with tempfile.TemporaryDirectory() as folder:
        given, gave = Path(folder) / "x.npz", Path(folder) / "y.npz"
        np.savez(given, **{port["name"]: _samples(port) for port in manifest["inputs"]})
        code, said = _lamina(["run", str(model), "--input", str(given), "-o", str(gave), *mode])
        if code:
            return said
        with np.load(gave) as arrays:
            return _hash(b"".join(np.ascontiguousarray(arrays[k]).tobytes() for k in sorted(arrays.files)))


def _samples(port: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(7)
    shape = (2, *port["model_shape"][1:])
    limits = np.iinfo({"s8": "int8", "u8": "uint8", "s16": "int16", "s32": "int32"}.get(port["dtype"], "int8"))
    drawn = rng.integers(limits.min, limits.max, shape, endpoint=True)
    if np.issubdtype(np.dtype(port["model_dtype"]), np.integer):
        return drawn.astype(port["model_dtype"])
    return ((drawn - port["zero_point"]) * port["scale"]).astype(np.float32)


def _instructions(model: Path, case: Case) -> int | str:
    code, said = _lamina(["profile", str(model), "-t", case.target, "--json"])
    return said.split(" ", 1)[0] if code else int(json.loads(said)["instructions"])


def _lamina(arguments: Sequence[str]) -> tuple[int, str]:
    from codegen.cli import main as lamina

    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = lamina(list(arguments))
    return code, stderr.getvalue() if code else stdout.getvalue()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


# The comparison


@contextlib.contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The revision in a folder of its own, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, revision], cwd=ROOT, check=True)
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def start(tree: Path, chosen: Sequence[Case]) -> subprocess.Popen[str]:
    """The worker of one tree, which has got its cases."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OPENBLAS_NUM_THREADS": "1"}
    argv = [sys.executable, str(Path(__file__).resolve()), "--worker"]
    process = subprocess.Popen(
        argv, cwd=tree, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    fields = ("model", "target", "mode", "counted")
    json.dump([{name: getattr(case, name) for name in fields} for case in chosen], process.stdin)
    process.stdin.close()
    return process


def differences(case: Case, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What a case gives differently; the text of the C is not among it."""
    found = []
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        near = key == "instructions" and isinstance(old, int) and isinstance(new, int) and new <= old * (1 + FREE)
        if old != new and key != "c" and not near:
            found.append(f"{case.name}: {key} {old} -> {new}")
    return found


def main() -> int:
    """Compare, print; 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="the revision to compare this tree with")
    parser.add_argument("--quick", action="store_true", help="small models on two targets, nothing emulated")
    given = parser.parse_args()
    chosen, found, texts, counts = cases(given.quick), [], 0, []
    with checked_out(given.revision) as tree:
        one, other = start(tree, chosen), start(ROOT, chosen)
        assert one.stdout is not None
        assert other.stdout is not None
        for case, old, new in zip(chosen, one.stdout, other.stdout, strict=True):
            before, after = json.loads(old), json.loads(new)
            found += differences(case, before, after)
            texts += before.get("c") != after.get("c")
            if isinstance(before.get("instructions"), int) and isinstance(after.get("instructions"), int):
                counts.append(after["instructions"] / before["instructions"])
        ended = one.wait() or other.wait()
    print("\n".join(found))
    span = f"; instructions {min(counts):.4f} to {max(counts):.4f} of what they were" if counts else ""
    print(f"{len(chosen)} cases, {len(found)} differences, the text of the C differs in {texts}{span}")
    return int(bool(found) or bool(ended))


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        worker()
    else:
        sys.exit(main())
