"""Time, memory and code size of the MLPerf Tiny networks, beside ONNX Runtime.  README.md explains the columns."""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small products on two busy cores wait for each other

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.tables import print_records  # noqa: E402
from codegen.emit import write_project  # noqa: E402
from codegen.emulator import section_sizes  # noqa: E402
from codegen.golden.interface import graph_ports, network_feeds  # noqa: E402
from codegen.golden.interpreter import run_graph  # noqa: E402
from codegen.host.build import compiler_words, shim_defines  # noqa: E402
from codegen.ir.quant import Array  # noqa: E402
from codegen.pipeline import Compiled, Options, compile_file  # noqa: E402
from codegen.process import check_program, find_program  # noqa: E402
from codegen.resources import resource_dir  # noqa: E402
from codegen.target import load_target  # noqa: E402
from codegen.verbs.samples import Sample, random_samples  # noqa: E402

MODELS = ("kws_qdq", "resnet8_qdq", "vww_qdq", "ad_qdq")
CHIP = "cortex-m4"
HEADS = (
    "model", "compile s", "cpu s", "golden ms", "C us", "ORT us", "C / ORT", "arena B", "text -Os B", "text -O2 B",
)  # fmt: skip
BATCH_S = 0.05
"""Time of one batch of inferences, so that a clock's step and one interruption matter little."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one model; None where a tool is missing."""

    model: str
    compile_s: float
    compile_cpu_s: float
    golden_ms: float
    c_us: float
    ort_us: float | None
    c_over_ort: float | None
    arena_bytes: int
    text_os_bytes: int | None
    text_o2_bytes: int | None


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=MODELS, help="names in ../shared/models, or files")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--flags", default="-O3 -march=native", help="of the host's compiler (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="processes per compile time (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=15, help="pairs of batches, C and ORT (default: %(default)s)")
    given = parser.parse_args(arguments)
    rows = [measure(find_model(m), given.flags.split(), given.repeats, given.pairs) for m in given.models]
    print_records(rows, HEADS, as_json=given.json)


def find_model(name: str) -> Path:
    """A file, or a model of ../shared by its name without ending."""
    if Path(name).is_file():
        return Path(name)
    found = sorted((ROOT.parent / "shared" / "models").rglob(f"{name}.onnx"))
    if not found:
        sys.exit(f"{name}: no such file, and no such model in ../shared/models")
    return found[0]


def measure(model: Path, flags: Sequence[str], repeats: int, pairs: int) -> Row:
    """All columns of one model."""
    compiled = compile_file(model, Options(target="host"))
    sample = random_samples(graph_ports(compiled.imported)[0], 1, seed=0)[0]
    feeds = network_feeds(graph_ports(compiled.imported)[0], sample)
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        c = c_runner(compiled, feeds[compiled.graph.inputs[0].value], flags, Path(folder))
        ort = ort_runner(model, sample)
        c_us, ort_us, ratio = in_pairs(c, ort, pairs)
        on_chip = chip_text(model, Path(folder))
    wall, cpu = compile_seconds(model, repeats)
    return Row(
        model=model.stem,
        compile_s=round(wall, 3),
        compile_cpu_s=round(cpu, 3),
        golden_ms=round(fastest(lambda: run_graph(compiled.imported, feeds), 5) * 1e3, 2),
        c_us=round(c_us, 1),
        ort_us=None if ort_us is None else round(ort_us, 1),
        c_over_ort=None if ratio is None else round(ratio, 2),
        arena_bytes=compiled.plan.arena_bytes,
        text_os_bytes=on_chip.get("-Os"),
        text_o2_bytes=on_chip.get("-O2"),
    )


def compile_seconds(model: Path, repeats: int) -> tuple[float, float]:
    """Seconds of `lamina compile` as a process, less those of importing the libraries it stands on; minimum of each.

    Wall time, and processor time, which other work on the machine disturbs less.
    """
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        out = str(Path(folder) / "out")
        whole = [sys.executable, "-m", "codegen", "compile", str(model), "-t", CHIP, "-o", out]
        libraries = [sys.executable, "-c", "import numpy, onnx, jinja2, click"]
        times = [(process_seconds(whole), process_seconds(libraries)) for _ in range(repeats)]
    wall, cpu = (min(t[i] for t, _ in times) - min(t[i] for _, t in times) for i in (0, 1))
    return wall, cpu


def process_seconds(argv: Sequence[str]) -> tuple[float, float]:
    """Wall time and processor time of a process that must succeed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fastest(call: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def c_runner(compiled: Compiled, x: Array, flags: Sequence[str], folder: Path) -> Callable[[int], None]:
    """A function that runs the generated C a number of times."""
    project = folder / "project"
    write_project(project, compiled.files)
    sources = [*sorted((project / "src").glob("*.c")), resource_dir("runtime_c") / "host" / "lam_host_shim.c"]
    sources.append(ROOT / "benchmarks" / "repeat.c")
    includes = [f"-I{project / part}" for part in ("include", "runtime", "src")]
    library = folder / "bench.so"
    defines = shim_defines(compiled.manifest, trace=False)
    argv = [*compiler_words(), "-std=c99", *flags, *defines, "-fPIC", "-shared", *includes, *sources, "-o", library]
    check_program(argv, timeout_s=300)
    lib = ctypes.CDLL(str(library))
    lib.lam_host_net_bytes.restype = ctypes.c_size_t
    net = ctypes.create_string_buffer(lib.lam_host_net_bytes())
    arena = np.zeros(compiled.plan.arena_bytes + 64, np.uint8)
    start = arena.ctypes.data + -arena.ctypes.data % 64
    size = ctypes.c_size_t(compiled.plan.arena_bytes)
    status = lib.lam_host_init(net, ctypes.c_void_p(start), size, None, ctypes.c_size_t(0))
    assert status == 0, f"init returned {status}"
    data = np.ascontiguousarray(x)

    def run(count: int) -> None:
        place, size = ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.nbytes)
        failed = lib.bench_repeat(net, place, size, ctypes.c_int32(count))
        assert not failed
        assert arena.size

    return run


def ort_runner(model: Path, sample: Sample) -> Callable[[int], None] | None:
    """A function that runs ONNX Runtime a number of times: one thread, all optimizations, buffers bound once."""
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, x in sample.items():
        binding.bind_cpu_input(name, x)
    for output in session.get_outputs():
        binding.bind_output(output.name)

    def run(count: int) -> None:
        for _ in range(count):
            session.run_with_iobinding(binding)

    return run


def in_pairs(
    c: Callable[[int], None], ort: Callable[[int], None] | None, pairs: int
) -> tuple[float, float | None, float | None]:
    """Microseconds per inference of both, medians; and the median of the pairs' ratios.  Batches alternate."""
    count_c = batch_size(c)
    count_ort = batch_size(ort) if ort else 0
    times: list[tuple[float, float]] = []
    for _ in range(pairs):
        mine = seconds(c, count_c) / count_c
        times.append((mine, seconds(ort, count_ort) / count_ort if ort else 0.0))
    c_us = statistics.median(t for t, _ in times) * 1e6
    if ort is None:
        return c_us, None, None
    return c_us, statistics.median(t for _, t in times) * 1e6, statistics.median(a / b for a, b in times)


def batch_size(run: Callable[[int], None]) -> int:
    """Inferences that take about BATCH_S, after a warm-up."""
    run(3)
    return max(1, round(BATCH_S / max(seconds(run, 3) / 3, 1e-7)))


def seconds(run: Callable[[int], None], count: int) -> float:
    start = time.perf_counter()
    run(count)
    return time.perf_counter() - start


def chip_text(model: Path, folder: Path) -> dict[str, int]:
    """Bytes of code of the generated C files on the chip, by optimization level; constants are not counted."""
    target = load_target(CHIP)
    toolchain = target.toolchain
    assert toolchain is not None
    if find_program(toolchain.cc) is None:
        return {}
    project = folder / "chip"
    write_project(project, compile_file(model, Options(target=CHIP)).files)
    includes = [f"-I{project / part}" for part in ("include", "runtime", "src")]
    found = {}
    for level in ("-Os", "-O2"):
        found[level] = 0
        for source in sorted((project / "src").glob("*.c")):
            out = folder / "chip.o"
            argv = [toolchain.cc, "-std=c99", *toolchain.cflags, level, "-c", *includes, source, "-o", out]
            check_program(argv, timeout_s=300)
            found[level] += section_sizes(target, out)["text"]
    return found


if __name__ == "__main__":
    main()
