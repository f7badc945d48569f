"""The beginning of a C program that runs a network whose weights are read: a blob, one input and its outputs."""

from __future__ import annotations

import numpy as np

from codegen.emit import array_lines
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import Array
from codegen.pipeline import Compiled
from tests.e2e.projects import random_feeds

BEGINNING = """#include <stdio.h>
#include LAM_HOST_HEADER
#include "lam_host_reads.h"

static const uint8_t blob[] = {{ {blob} }};
static const {in_t} x[] = {{ {x} }};
static const {out_t} y[] = {{ {y} }};
static uint8_t arena[BIG(_ARENA_SIZE)] BIG(_ARENA_ALIGNED);
static lam_host_flash flash = {{ blob, sizeof(blob), -1 }};
static NET(_t) net;
"""


def numbers_of(made: Compiled) -> dict[str, str]:
    """What BEGINNING asks for, with inputs that are drawn; and `upper`, as the network's macros begin."""
    (feeds, *_) = random_feeds(made, 1)
    source, sink = made.program.inputs[0], made.program.outputs[0]
    return {
        "blob": _lines(np.frombuffer(made.files["weights.bin"], np.uint8)),
        "in_t": source.dtype.ctype,
        "out_t": sink.dtype.ctype,
        "x": _lines(feeds[source.operand.value]),
        "y": _lines(run_graph(made.graph, feeds)[sink.operand.value]),
        "upper": made.program.name.upper(),
    }


def _lines(numbers: Array) -> str:
    return "\n".join(array_lines(numbers.reshape(-1)))
