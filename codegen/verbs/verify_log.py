"""Compares what a board has said of its self-test with the golden model, and names the first tensor that differs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from codegen.emit import fill_pattern
from codegen.emit.tracing import log_word
from codegen.errors import BoardRefused, LogIncomplete, LogOfAnother
from codegen.golden.interface import made_rows
from codegen.golden.interpreter import Stepper
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from codegen.records import record
from codegen.report.manifest import said_arithmetic
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.crc_log import CrcLog, Firmware, Key, read_crc_log
from codegen.verbs.findings import Evidence, Line, LogFinding, explained, status_name
from codegen.verbs.sources import ModelSource, file_of, takes_model


@record(kw_only=True)
class LogCheck:
    """What a board's log says.

    `tensors_checked` lines about inputs, tensors and outputs were compared in `runs` runs; `missing` others are not in
    the log, and `damaged` ones cannot be read.  `self_test` is what NAME_selftest gave, None where the log ends before
    it; `wrong_weights` are layers whose weights in the board's memory are not those that were compiled.
    """

    equal: bool
    target: str
    requant: str
    arithmetic: str
    runs: int
    starts: int
    tensors_checked: int
    differing: int
    missing: int
    damaged: int
    self_test: int | None
    wrong_weights: tuple[str, ...]
    first_difference: LogFinding | None


@takes_model
def verify_log(model: ModelSource, log: str | Path, options: Options, toolkit: Toolkit = HOUSE) -> LogCheck:
    """The first difference between the log of a board and the golden model, or that there is none."""
    read = read_crc_log(Path(log))
    compiled = compile_file(file_of(model), replace(options, name=read.firmware.name), toolkit)
    return judged(compiled, read, str(log))


def judged(compiled: Compiled, log: CrcLog, where: str) -> LogCheck:
    """The log held against what was compiled; `where` is the log's file."""
    _check_same(log.firmware, compiled, where)
    return _compared(compiled, log, list(_expected(compiled, log.firmware.vectors)), where)


def _check_same(board: Firmware, compiled: Compiled, where: str) -> None:
    """LAM-VERIFY-004 unless the firmware is what was compiled here, with what differs first."""
    made: Mapping[str, Any] = compiled.manifest
    ids = made["selftest"]
    if (board.code, board.weights) == (ids["code"], ids["weights"]):
        return
    facts = (
        ("model, whose SHA-256 begins with", board.model, made["model_sha256"][:16]),
        ("target", board.target, log_word(made["target"])),
        ("rounding, --requant", board.requant, log_word(made["requant"])),
        ("version of lamina", board.version, log_word(made["version"])),
        ("weights, whose id is", board.weights if board.code == ids["code"] else "", ids["weights"]),
    )
    for what, theirs, own in facts:
        if theirs not in ("", own):
            raise LogOfAnother(f"the board's firmware has another {what} {theirs}, and here {own}", where=where)
    raise LogOfAnother(
        f"the board's firmware has other code ({board.code}, and here {ids['code']}), so it was compiled with other "
        "options, such as --goal, --weights, --io-layout, --arena-limit or --stream-input",
        where=where,
    )


def _expected(compiled: Compiled, vectors: int) -> Iterator[Line]:
    """What the board has to say, in the order in which it computes; of a network with state all runs twice."""
    program, types = compiled.program, [compiled.graph.type(i.value) for i in compiled.graph.inputs]
    for index, params in enumerate(program.params):
        body = b"".join(field.values.astype(_order(compiled, field.values)).tobytes() for field in params.fields)
        yield Line("W", (index,), zlib.crc32(body), params.name)
    for run in range(vectors * (2 if program.states else 1)):
        if run % vectors == 0:
            stepper = Stepper(compiled.graph)
        feeds = fill_pattern(run % vectors + 1, types)
        values = stepper.run({i.value: x for i, x in zip(compiled.graph.inputs, feeds, strict=True)})
        yield from _of_a_run(compiled, run, feeds, values)


def _of_a_run(compiled: Compiled, run: int, feeds: list[Array], values: Mapping[str, Array]) -> Iterator[Line]:
    program, rows = compiled.program, compiled.shadow.rows
    if not program.streamed:
        for index, (port, x) in enumerate(zip(program.inputs, feeds, strict=True)):
            yield Line("I", (run, index), _crc(compiled, x), port.name)
    for tensor in program.tensors:
        if rows[tensor.value]:
            crc = _crc(compiled, made_rows(values[tensor.value], rows[tensor.value]))
            yield Line("T", (run, tensor.index), crc, tensor.value)
    for index, port in enumerate(program.outputs):
        yield Line("O", (run, index), _crc(compiled, values[port.operand.value]), port.name)


def _crc(compiled: Compiled, array: Array) -> int:
    return zlib.crc32(array.astype(_order(compiled, array)).tobytes())


def _order(compiled: Compiled, array: Array) -> np.dtype[Any]:
    return array.dtype.newbyteorder("<" if compiled.target.byte_order == "little" else ">")


def _compared(compiled: Compiled, log: CrcLog, lines: list[Line], where: str) -> LogCheck:
    said = log.session.said
    weights = [line for line in lines if line.kind == "W"]
    compared = [line for line in lines if line.kind != "W"]
    there = [line for line in compared if line.key in said[line.kind]]
    wrong = [line for line in there if said[line.kind][line.key] != line.crc]
    damaged = [x for x in weights if said["W"].get(x.key, x.crc) != x.crc]
    missing = [line for line in lines if line.key not in said[line.kind]]
    if not wrong and not damaged:
        _check_whole(compiled, log, missing, where)
    evidence = Evidence(said[wrong[0].kind][wrong[0].key], damaged, missing) if wrong else None
    result = next(iter(said["E"].values()), None)
    return LogCheck(
        equal=not wrong and not damaged,
        target=compiled.target.name,
        requant=str(compiled.manifest["requant"]),
        arithmetic=said_arithmetic(compiled.manifest),
        runs=1 + max((line.key[0] for line in there), default=-1),
        starts=log.starts,
        tensors_checked=len(there),
        differing=len(wrong),
        missing=len(missing),
        damaged=log.damaged,
        self_test=result if result is None or result < 0x8000 else result - 0x10000,
        wrong_weights=tuple(line.name for line in damaged),
        first_difference=explained(compiled, wrong[0], evidence) if evidence else None,
    )


def _check_whole(compiled: Compiled, log: CrcLog, missing: list[Line], where: str) -> None:
    """LAM-VERIFY-007 and -005: a board that says nothing wrong has said all."""
    said = log.session.said
    for status in said["F"].values():
        raise BoardRefused(f"{status_name(status)} after {_count(said)} right lines", where=where)
    if not log.firmware.vectors:
        raise LogIncomplete("the firmware's self-test has no vectors (--vectors 0)", where=where)
    if not missing and log.session.ended:
        return
    damaged = f", {log.damaged} damaged" if log.damaged else ""
    found = f"{len(missing)} lines are missing{damaged}; the {_count(said)} others are right"
    if not log.session.ended:
        next_line = next((line for line in missing if line.kind != "W"), None)
        found += "; the self-test did not end" + (
            f": it got as far as {next_line.place(compiled)}" if next_line else ""
        )
    raise LogIncomplete(found, where=where)


def _count(said: Mapping[str, Mapping[Key, int]]) -> int:
    return sum(len(said[kind]) for kind in "WITO")
