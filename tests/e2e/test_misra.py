"""The rules of MISRA C:2012 that cppcheck's addon finds broken are those of the deviation record, and no others.

    python -m tests.e2e.test_misra

prints by network which rules are broken in which files.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from codegen.pipeline import Options, compile_file
from codegen.process import run_program
from codegen.resources import resource_dir
from tests.e2e.analysis import with_few_numbers
from tests.e2e.projects import DIGITS, TINY, Project, written
from tests.support.heads import HEADS, write_heads
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_tool

RECORD = resource_dir("templates") / "MISRA.md"
_BROKEN = re.compile(r"^(?:.*/)?([\w.]+):\d+:\d+: .*\[misra-c2012-(\d+\.\d+)\]$", re.MULTILINE)
_DSP = ("-D__ARM_FEATURE_DSP=1", "-D__ARM_FEATURE_SIMD32=1", "-D__ARMEL__=1")
_MVE = ("-D__ARM_FEATURE_MVE=3", "-D__ARMEL__=1")


@dataclass(frozen=True, slots=True)
class Subject:
    """A model, how it is compiled, and what the chip's compiler defines."""

    model: Path | str
    options: Options
    defines: tuple[str, ...] = ()
    quick: bool = False

    def project(self, folder: Path) -> Project:
        """Compiled and written to a folder."""
        path = self.model if isinstance(self.model, Path) else shared_dir() / "models" / self.model
        return written(folder / "net", compile_file(path, self.options))


SUBJECTS: Mapping[str, Subject] = {
    "plain": Subject(DIGITS, Options(target="generic"), quick=True),
    "streamed": Subject(TINY, Options(target="generic", stream_input=True)),
    "blob": Subject(DIGITS, Options(target="generic", weights="blob")),
    "outside": Subject(DIGITS, Options(target="generic", goal="memory", input_outside=True, max_recompute=100.0)),
    "buffer": Subject(DIGITS, Options(target="generic", weights_buffer=2048, pinned=("stem",), mapped=("classify",))),
    "buffer, with hook and trace": Subject(
        DIGITS, Options(target="generic", weights_buffer=2048, name="net"), ("-DNET_HOOK", "-DNET_TRACE")
    ),
    "tflite": Subject(DIGITS, Options(target="generic", requant="tflite")),
    "floats at the border": Subject(DIGITS, Options(target="generic", io_type="model", requant="ort")),
    "armv6m": Subject(DIGITS, Options(target="cortex-m0plus")),
    "dsp": Subject(DIGITS, Options(target="cortex-m4"), _DSP),
    "mve": Subject(DIGITS, Options(target="cortex-m55"), _MVE),
    "avr": Subject(DIGITS, Options(target="avr")),
    "scratchpad": Subject(DIGITS, Options(target="gap8-like")),
    "cores": Subject(DIGITS, Options(target="gap8-cores")),
    "float": Subject("tflite/hello_world_f32.tflite", Options(target="generic")),
    "float convolutions": Subject("onnx/mnist_cnn_f32.onnx", Options(target="generic")),
    "resnet8": Subject("mlperf_tiny/resnet8_int8.tflite", Options(target="cortex-m4"), _DSP),
    "pairs of outputs": Subject("mlperf_tiny/resnet8_int8.tflite", Options(target="cortex-m3", goal="speed")),
    "shuffled channels": Subject("dialects/shuffle__inc_qdq.onnx", Options(target="generic")),
    "windows of 7 x 7": Subject("dialects/convnext__ort_qdq13_s8_pc.onnx", Options(target="cortex-m4"), _DSP),
    "signal": Subject("tflite/audio_preprocessor_int8.tflite", Options(target="generic")),
    "recurrence of integers": Subject("dialects/lstm__ort_qdq13_s8_pc.onnx", Options(target="generic")),
    "recurrent": Subject("dialects/grucell__ort_ts17_dedicated.onnx", Options(target="generic")),
    "transformer": Subject("dialects/transf_noln__ort_qop13_u8u8_pt.onnx", Options(target="generic")),
}
"""One of each form of project, and operators beyond convolutions."""


def broken(made: Project, *defines: str) -> Counter[tuple[str, str]]:
    """How often which rule is broken in which file, advisory rules too."""
    found: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for source in (*made.sources, made.folder / "test" / "selftest.c"):
            shown = with_few_numbers(source, Path(folder))
            argv = ["cppcheck", "--addon=misra", "--std=c99", "--quiet", "-D__GNUC__=12", *defines, *made.includes]
            said = run_program([*argv, str(shown)], timeout_s=600).stderr.decode()
            if shown != source:  # of arrays that were cut short it would say that numbers are missing
                said = said.replace("[misra-c2012-9.3]", "")
            found.update((rule, file.replace(made.name, "NAME")) for file, rule in set(_BROKEN.findall(said)))
    return found


def recorded(heading: str) -> dict[str, str]:
    """Rules of a table of the record, and what is said of them."""
    part = RECORD.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| (\d+\.\d+) \| (.*) \|$", part, re.MULTILINE))


REQUIRED, ADVISORY = "Required rules", "Advisory rules"


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if s.quick else pytest.mark.slow) for n, s in SUBJECTS.items()]
)
def test_no_rule_is_broken_but_those_of_the_record(name: str, tmp_path: Path) -> None:
    require_tool("cppcheck")
    subject = SUBJECTS[name]
    found = {rule for rule, _ in broken(subject.project(tmp_path), *subject.defines)}
    assert found, "the addon runs"
    assert not found - recorded(REQUIRED).keys() - recorded(ADVISORY).keys()


@pytest.mark.slow
def test_no_rule_is_broken_by_what_reads_outputs(tmp_path: Path) -> None:
    """A head of each decoder."""
    require_tool("cppcheck")
    rng = np.random.default_rng(3)
    sources = write_heads(tmp_path, [made(f"h{kind}", rng) for kind, made in HEADS.items()], 1)[1:]
    includes = [f"-I{resource_dir('runtime_c') / 'include'}", f"-I{tmp_path}"]
    argv = ["cppcheck", "--addon=misra", "--std=c99", "--quiet", "-D__GNUC__=12", *includes]
    said = (run_program([*argv, str(source)], timeout_s=600).stderr.decode() for source in sources)
    found = {rule for text in said for _, rule in _BROKEN.findall(text)}
    assert found, "the addon runs"
    assert not found - recorded(REQUIRED).keys() - recorded(ADVISORY).keys()


@pytest.mark.slow
def test_every_rule_of_the_record_is_broken_somewhere(tmp_path: Path) -> None:
    require_tool("cppcheck")
    found: set[str] = set()
    for name, subject in SUBJECTS.items():
        found |= {rule for rule, _ in broken(subject.project(tmp_path / name.replace(" ", "_")), *subject.defines)}
    assert found == recorded(REQUIRED).keys() | recorded(ADVISORY).keys()


def test_a_rule_is_in_one_table_and_has_a_reason() -> None:
    required, advisory = recorded(REQUIRED), recorded(ADVISORY)
    assert required
    assert not required.keys() & advisory.keys()
    assert all(len(said) > 40 for said in required.values())


def test_the_page_is_what_projects_ship(tmp_path: Path) -> None:
    made = SUBJECTS["streamed"].project(tmp_path)
    assert (made.folder / "MISRA.md").read_bytes() == RECORD.read_bytes() == (ROOT / "docs" / "misra.md").read_bytes()
    assert "MISRA.md" in (made.folder / "README.md").read_text()


def main() -> None:
    """Print what is broken where."""
    chosen = {n: s for n, s in SUBJECTS.items() if not sys.argv[1:] or n in sys.argv[1:]}
    for name, subject in chosen.items():
        with tempfile.TemporaryDirectory() as folder:
            found = broken(subject.project(Path(folder)), *subject.defines)
        print(name, sorted({rule for rule, _ in found}, key=lambda r: [int(x) for x in r.split(".")]), flush=True)
        for rule, file in sorted(found):
            print("   ", rule, file, flush=True)


if __name__ == "__main__":
    main()
