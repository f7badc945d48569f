"""The C of many networks under sanitizers, static analyzers and valgrind: none of them has anything to report.

    python -m tests.e2e.analysis [MODEL ...] [--check=CHECK ...]

compiles every model given for `generic`, or else `SUBJECTS`, puts each through every check of `CHECKS`, and prints a
line for each with 1 for a check that reports something and 0 for one that does not, and the reports.  What runs is the
self-test, in memory of the heap of just the size that the header says (analysis_main.c).
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codegen.pipeline import Options, compile_file
from codegen.process import Completed, check_program, run_program
from tests.e2e.projects import SANITIZE, Project, written
from tests.support.shared import shared_dir
from tests.support.tflite_state_cases import draw_state

MAIN = Path(__file__).with_name("analysis_main.c")
_TIMEOUT_S = 600.0
PLAIN = Options(target="generic")
DMA = Options(target="gap8-like")
CORES = Options(target="gap8-cores")
STREAMED = Options(target="generic", weights="blob", stream_input=True)
FLOAT = Options(target="generic", requant="ort")
PAIRS = Options(target="rv32imc", goal="speed")
STRIPS = Options(target="generic", goal="memory", input_outside=True, max_recompute=60.0)


@dataclass(frozen=True, slots=True)
class Subject:
    """A model, a file of ../shared/models or a drawn one of an operator with a state, and how it is compiled."""

    model: Path | tuple[str, str, int]
    options: Options = field(default=PLAIN)

    @property
    def title(self) -> str:
        """Which model, and what is not plain."""
        name = self.model.stem if isinstance(self.model, Path) else "-".join(map(str, self.model))
        return f"{name} {_HOW[self.options]}"

    def project(self, folder: Path) -> Project:
        """Compiled and written to a folder."""
        return written(folder / "net", compile_file(self._file(folder), self.options))

    def _file(self, folder: Path) -> Path:
        if isinstance(self.model, Path):
            return self.model if self.model.is_file() else shared_dir() / "models" / self.model
        path = folder / "drawn.tflite"
        path.write_bytes(draw_state(*self.model).data)
        return path


_HOW = {
    **{PLAIN: "generic", DMA: "gap8-like", CORES: "gap8-cores"},
    **{STREAMED: "generic, streamed, blob", FLOAT: "generic, ort", STRIPS: "generic, in strips, input outside"},
    PAIRS: "rv32imc, outputs in pairs",
}
_TINY = ("kws_int8", "vww_int8", "ad_int8", "resnet8_int8", "strww_int8")
_DIALECTS = (
    *("mbv2__ort_ts17_qdq_s16s8_ms", "shuffle__inc_qdq", "unet__quark_A8W8", "tcn__inc_qop", "dscnn__pt2e_xnn"),
    *("dscnn__ort_dyn21_qdq_u16u8_pt", "transf_noln__ort_qop13_u8u8_pt", "transf_noln__ort_dyn21_qdq_s16s16"),
    *("grucell__ort_ts17_dedicated", "yolo8__ppq_esp"),
)
_MODELS: Mapping[str, Path] = {
    **{name: Path(f"mlperf_tiny/{name}.tflite") for name in _TINY},
    **{name: Path(f"tflite/{name}.tflite") for name in ("hello_world_int8", "micro_speech_int8")},
    **{name: Path(f"mlperf_tiny_onnx/{name}.onnx") for name in ("kws_qdq", "resnet8_qop_u8s8")},
    "mnist_cnn_qdq": Path("onnx/mnist_cnn_qdq.onnx"),
    **{name: Path(f"dialects/{name}.onnx") for name in _DIALECTS},
}
_OTHERWISE = {
    DMA: ("kws_int8", "resnet8_qop_u8s8", "mnist_cnn_qdq", "mbv2__ort_ts17_qdq_s16s8_ms"),
    CORES: ("resnet8_int8",),
    STREAMED: ("kws_int8", "vww_int8", "shuffle__inc_qdq", "dscnn__ort_dyn21_qdq_u16u8_pt"),
    FLOAT: ("mnist_cnn_qdq",),
    PAIRS: ("resnet8_int8", "resnet8_qop_u8s8"),
    STRIPS: ("vww_int8", "mbv2__ort_ts17_qdq_s16s8_ms"),
}
SUBJECTS = (
    *(Subject(model) for model in _MODELS.values()),
    *(Subject(("UNIDIRECTIONAL_SEQUENCE_LSTM", kind, 1)) for kind in ("int8", "int16")),
    Subject(("SVDF", "int8", 1)),
    *(Subject(_MODELS[name], options) for options, names in _OTHERWISE.items() for name in names),
)
"""Twenty networks of ../shared and three drawn ones; some again for a scratchpad, in strips, streamed, or in floats."""

INTEGER = ("-g", "-O1", "-fsanitize=undefined,integer", "-fno-sanitize-recover=all")
WRAPS: Mapping[str, str] = {"*_svdf": "sums wrap around in 32 bits, as the reference's do (codegen/ops/svdf.py)"}
"""Functions whose unsigned sums wrap by design, and why; everything else about them is checked."""


def _defines(made: Project) -> list[str]:
    """The macros of analysis_main.c and of the self-test."""
    found = [f"-DNET={made.name}", f"-DBIG={made.upper}", f'-DHEADER="{made.name}.h"']
    found.append(f"-D{made.upper}_SELFTEST_ARENA=(*lent_arena)")
    if made.compiled.manifest.get("scratchpad_bytes"):
        cores = made.compiled.manifest["cores"]
        found += [
            f"-D{made.upper}_SELFTEST_SCRATCHPAD=(*lent_scratchpad)",
            "-DSCRATCHPAD",
            f"-DCORES={cores}",
            "-DLAM_DMA_SYNC",
        ]
    return found if made.blob is None else [*found, "-DBLOB"]


def built(made: Project, folder: Path, compiler: str, flags: Sequence[str], tests: Sequence[str] | None = None) -> Path:
    """The self-test's program, the network compiled with `flags`, and what tests it with them or with `tests`."""
    lines = ["-std=c99", *_defines(made), *made.includes]
    ours = [*map(str, made.sources)]
    theirs = [str(made.folder / "test" / "selftest.c"), str(MAIN)]
    objects = []
    for source in (*ours, *theirs):
        objects.append(str(folder / f"{Path(source).stem}.o"))
        chosen = tests if tests is not None and source in theirs else flags
        check_program([compiler, *lines, *chosen, "-c", source, "-o", objects[-1]], timeout_s=_TIMEOUT_S)
    program = folder / "program"
    check_program([compiler, *flags, *objects, "-lm", "-o", str(program)], timeout_s=_TIMEOUT_S)
    return program


def _said(done: Completed) -> str:
    """Everything a checker said, when it ended with an error."""
    return (done.stdout + done.stderr).decode("utf-8", errors="replace") if done.returncode else ""


def _ran(made: Project, program: Path, *before: str) -> str:
    blob = [] if made.blob is None else [str(made.folder / "weights.bin")]
    return _said(run_program([*before, str(program), *blob], timeout_s=_TIMEOUT_S))


def gcc_sanitized(made: Project, folder: Path) -> str:
    """Addresses and undefined behaviour, by gcc."""
    return _ran(made, built(made, folder, "gcc", ("-O1", *SANITIZE)))


def clang_sanitized(made: Project, folder: Path) -> str:
    """Addresses and undefined behaviour, by clang."""
    return _ran(made, built(made, folder, "clang", ("-O1", *SANITIZE)))


def clang_integer(made: Project, folder: Path, tests: Sequence[str] = ("-O1",)) -> str:
    """Unsigned wraps and conversions that lose bits too, but in the self-test, whose generator wraps by design."""
    wraps = folder / "wraps.txt"
    wraps.write_text("[unsigned-integer-overflow]\n" + "".join(f"fun:{name}\n" for name in WRAPS))
    return _ran(made, built(made, folder, "clang", (*INTEGER, f"-fsanitize-ignorelist={wraps}"), tests))


def gcc_analyzed(made: Project, folder: Path) -> str:
    """Every path through each function that gcc's analyzer follows."""
    sources = [*made.sources, *sorted((made.folder / "test").glob("*.c"))]
    flags = ("-std=c99", "-O1", "-fanalyzer", "-Werror", *made.includes, "-c")
    out = str(folder / "analyzed.o")
    return "".join(_said(run_program(["gcc", *flags, str(s), "-o", out], timeout_s=_TIMEOUT_S)) for s in sources)


def cppcheck(made: Project, *more: str) -> str:
    """What cppcheck says of the sources and of the self-test; of the weights it sees a few numbers of each array."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [with_few_numbers(source, Path(folder)) for source in made.sources]
        return _cppchecked(made, sources, *more)


def with_few_numbers(source: Path, folder: Path) -> Path:
    """The source itself, or of the weights a copy with the first line of each array: cppcheck takes hours for all."""
    if not source.stem.endswith("_weights"):
        return source
    copy = folder / source.name
    copy.write_text(re.sub(r"(\{[^{}\n]*\n[^{}\n]*\n)[^{};]*(?=\})", r"\1", source.read_text()))
    return copy


def _cppchecked(made: Project, sources: Sequence[Path], *more: str) -> str:
    argv = [
        *("cppcheck", "--enable=warning,style,performance,portability", "--std=c99", "--error-exitcode=1", "--quiet"),
        *("--inline-suppr", "--suppress=missingIncludeSystem", f"-D{made.upper}_TRACE", "-D__GNUC__=12"),
        *more,
        *made.includes,
        *map(str, [*sources, *sorted((made.folder / "test").glob("*.c"))]),
    ]
    return _said(run_program(argv, timeout_s=_TIMEOUT_S))


def valgrind(made: Project, folder: Path, *flags: str) -> str:
    """Accesses outside of the memory lent, results that depend on bytes nobody wrote, and leaks."""
    program = built(made, folder, "gcc", ("-g", "-O1", *flags))
    return _ran(made, program, "valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full")


CHECKS: Mapping[str, Callable[[Project, Path], str]] = {
    "gcc asan+ubsan": gcc_sanitized,
    "clang asan+ubsan": clang_sanitized,
    "clang integer": clang_integer,
    "gcc -fanalyzer": gcc_analyzed,
    "cppcheck": lambda made, _: cppcheck(made),
    "valgrind": valgrind,
}
TOOLS = ("gcc", "clang", "cppcheck", "valgrind")


def reports(subject: Subject, checks: Sequence[str] = tuple(CHECKS)) -> dict[str, str]:
    """What each check says of a network: nothing, when all is well."""
    with tempfile.TemporaryDirectory() as name:
        made = subject.project(Path(name))
        found = {}
        for check in checks:
            folder = Path(name) / f"check{len(found)}"
            folder.mkdir()
            found[check] = CHECKS[check](made, folder)
        return found


def main() -> int:
    """Exit status 1 when a check reports anything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--check", action="append", choices=CHECKS)
    args = parser.parse_args()
    bad = 0
    for subject in [Subject(model) for model in args.models] or SUBJECTS:
        found = reports(subject, args.check or tuple(CHECKS))
        said = {check: text for check, text in found.items() if text}
        bad += len(said)
        print(f"{subject.title}:", ", ".join(f"{check} {int(bool(text))}" for check, text in found.items()), flush=True)
        for check, text in said.items():
            print(f"--- {check}\n{text[:3000]}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
