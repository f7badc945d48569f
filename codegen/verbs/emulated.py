"""Golden against C on an emulated chip: checksums of every tensor, and the whole of the first one that differs."""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codegen.emit import array_lines, render
from codegen.emulator import build_and_run
from codegen.errors import RunFailed
from codegen.golden.compare import Difference, first_difference
from codegen.host import answered, host_regions
from codegen.ir.quant import Array
from codegen.pipeline import Compiled
from codegen.records import record
from codegen.resources import resource_dir

Case = tuple[Mapping[str, Array], Mapping[str, Array], Mapping[str, Array]]
"""A sample's network inputs, the tensors the C must reproduce, and the outputs as they are after the run."""

_TIMEOUT_S = 600.0
_FOUND = re.compile(rb"^f ([0-9a-f]+)$", re.MULTILINE)
_LINE = re.compile(rb"^([to]) ([0-9a-f]{4}) ([0-9a-f]{8})$", re.MULTILINE)


@record(kw_only=True, eq=False)
class Trial:
    """What a board is given: cases, with a reset before each row of `steps` where there is state, and other outputs."""

    cases: Sequence[Case]
    steps: int = 0
    others: Sequence[Sequence[Array]] = ()


@record(eq=False)
class BoardSaid:
    """The first difference, and bytes of what a postprocessing found: in each case's outputs, in each other ones."""

    difference: Difference | None
    found: tuple[bytes, ...]


def run_on_board(compiled: Compiled, project: Path, trial: Trial) -> BoardSaid:
    """Run all cases in one program on the target's board."""
    printed = _run(compiled, project, trial, dump=None)
    count = len(trial.cases)
    sums = _checksums(printed, "t", len(compiled.program.tensors), compiled, count)
    ends = _checksums(printed, "o", len(compiled.program.outputs), compiled, count)
    found = tuple(bytes.fromhex(m.decode("ascii")) for m in _FOUND.findall(printed))
    if compiled.emit.post is not None and len(found) != count + len(trial.others):
        raise RunFailed("the emulated program ended early", where=compiled.target.name)
    return BoardSaid(_first(compiled, project, trial, sums, ends), found)


def _first(
    compiled: Compiled, project: Path, trial: Trial, sums: Sequence[Sequence[int]], ends: Sequence[Sequence[int]]
) -> Difference | None:
    """The first difference that checksums show, looked at closely."""
    for number, (case, found, final) in enumerate(zip(trial.cases, sums, ends, strict=True)):
        for tensor in compiled.program.tensors:
            if found[tensor.index] != zlib.crc32(_on_chip(case[1][tensor.value], compiled)):
                upto = trial.cases[: number + 1] if compiled.program.states else [case]
                difference = _locate(compiled, project, Trial(cases=upto, steps=trial.steps), tensor.index)
                if difference is not None:
                    return difference
        for crc, port in zip(final, compiled.program.outputs, strict=True):
            golden = case[2][port.operand.value]
            if crc != zlib.crc32(_on_chip(golden, compiled)) and not _has_nan(golden):
                return Difference(port.operand.value, (), None, None, 0.0, 0, int(golden.size))
    return None


def _on_chip(array: Array, compiled: Compiled) -> bytes:
    """The array's bytes as they lie in the target's memory."""
    return array.astype(_chip_dtype(array, compiled)).tobytes()


def _chip_dtype(array: Array, compiled: Compiled) -> np.dtype[Any]:
    return array.dtype.newbyteorder("<" if compiled.target.byte_order == "little" else ">")


def _checksums(printed: bytes, letter: str, tensors: int, compiled: Compiled, samples: int) -> list[list[int]]:
    """By sample, the checksums on the lines that begin with this letter."""
    sums = [int(m[3], 16) for m in _LINE.finditer(printed) if m[1] == letter.encode()]
    if len(sums) != tensors * samples or not printed.rstrip().endswith(b"end"):
        last = printed[-200:].decode("ascii", errors="replace")
        raise RunFailed(f"the emulated program ended early: {last!r}", where=compiled.target.name)
    return [sums[i * tensors : (i + 1) * tensors] for i in range(samples)]


def _has_nan(array: Array) -> bool:
    """Whether its bytes are not known: processors give what is no number signs of their own."""
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def _locate(compiled: Compiled, project: Path, trial: Trial, index: int) -> Difference | None:
    """Run the cases again, print the whole tensor, and name the first element that differs in the last one.

    None where only the bits of NaN do.
    """
    tensor = compiled.program.tensors[index]
    printed = _run(compiled, project, trial, dump=index)
    found = re.findall(rb"^d ([0-9a-f]*)$", printed, re.MULTILINE)
    golden = trial.cases[-1][1][tensor.value]
    raw = bytes.fromhex(found[-1].decode("ascii")) if found else b""
    if len(raw) != golden.nbytes:
        raise RunFailed(f"{len(raw)} bytes traced, {golden.nbytes} expected", where=tensor.value)
    actual = np.frombuffer(raw, _chip_dtype(golden, compiled)).astype(golden.dtype).reshape(golden.shape)
    difference = first_difference(tensor.value, golden, actual)
    assert difference is not None or _has_nan(golden), "checksums differ, bytes do not"
    return difference


def _run(compiled: Compiled, project: Path, trial: Trial, *, dump: int | None) -> bytes:
    """What the check program printed."""
    name = compiled.program.name
    host = resource_dir("runtime_c") / "host"
    defines: dict[str, str | None] = {
        "LAM_HOST_NAME": name,
        "LAM_HOST_UPPER": name.upper(),
        "LAM_HOST_HEADER": f'"{name}.h"',
        f"{name.upper()}_TRACE": None,
        "LAM_CHECK_TENSORS": str(len(compiled.program.tensors)),
    }
    if compiled.program.regions:
        defines["LAM_HOST_REGIONS"] = host_regions(r.memory for r in compiled.program.regions)
    if compiled.program.streamed:
        defines["LAM_HOST_STREAM"] = None
    if compiled.program.states:
        defines["LAM_CHECK_STEPS"] = str(max(trial.steps, 1))
    if compiled.emit.post is not None:
        defines |= {"LAM_CHECK_FOUND": None, "LAM_HOST_HEADER": f'"{name}_postprocess.h"'}
    if dump is not None:
        defines["LAM_CHECK_DUMP"] = str(dump)
    if "weights.bin" in compiled.files:
        defines["LAM_HOST_BLOB"] = None
    if compiled.program.weights is not None:
        defines["LAM_HOST_READ"] = None
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        data = Path(folder) / "check_data.c"
        data.write_text(_data_file(compiled, trial), encoding="ascii")
        result = build_and_run(
            compiled.target,
            [
                *sorted((project / "src").glob("*.c")),
                *answered(project, compiled.target.name),
                host / "lam_check_main.c",
                data,
            ],
            [project / part for part in ("include", "runtime", "src")],
            defines,
            timeout_s=_TIMEOUT_S,
            workdir=Path(folder),
        )
    if result.exit_code != 0:
        said = (result.console + result.messages)[-300:].decode("utf-8", errors="replace")
        raise RunFailed(f"the emulated program ended with code {result.exit_code}: {said}", where=compiled.target.name)
    return result.console


def _data_file(compiled: Compiled, trial: Trial) -> str:
    """The samples as C arrays."""
    ports = compiled.program.inputs
    raw = b"".join(_on_chip(feeds[p.operand.value], compiled) for feeds, *_ in trial.cases for p in ports)
    others = b"".join(_on_chip(array, compiled) for arrays in trial.others for array in arrays) or b"\0"
    blob = compiled.files.get("weights.bin", b"")
    return render(
        "check_data.c.j2",
        samples=len(trial.cases),
        input_bytes=[p.operand.rows * p.operand.row_bytes for p in ports],
        output_bytes=[p.operand.rows * p.operand.row_bytes for p in compiled.program.outputs],
        count=len(raw),
        lines=array_lines(np.frombuffer(raw, np.uint8)),
        weights=array_lines(np.frombuffer(blob, np.uint8)) if blob else (),
        weights_bytes=len(blob),
        others=array_lines(np.frombuffer(others, np.uint8)) if compiled.emit.post is not None else (),
        other_bytes=len(others),
        other_count=len(trial.others),
    )
