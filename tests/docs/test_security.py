"""docs/security.md states the limits that stand in the code."""

from __future__ import annotations

import re

import pytest

from codegen import datafiles, process
from codegen.frontends import files
from codegen.frontends.onnx import wire
from codegen.frontends.tflite import flat, reader
from codegen.host import build
from codegen.preprocess import npz
from codegen.settle import builder
from codegen.target import read, table
from codegen.verbs import profiling
from tests.support.shared import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
STATED = (
    (files.MAX_FILE_BYTES, 512 << 20, "512 MiB each"),
    (wire.MAX_FIELDS, 200_000, "200,000 of each"),
    (flat.MAX_ENTRIES, 1 << 21, "2^21; 65,536"),
    (reader.MAX_OPERATORS, 65_536, "2^21; 65,536"),
    (builder.MAX_ELEMENTS, 1 << 25, "2^25 elements, 8 axes"),
    (builder.MAX_RANK, 8, "2^25 elements, 8 axes"),
    (builder.MAX_NODES, 16384, "16,384 operators, 2^28 elements, 2^35 multiplications"),
    (builder.MAX_TOTAL_ELEMENTS, 1 << 28, "16,384 operators, 2^28 elements, 2^35 multiplications"),
    (builder.MAX_STEPS, 1 << 35, "16,384 operators, 2^28 elements, 2^35 multiplications"),
    (datafiles.MAX_TOML_BYTES, 1 << 20, "1 MiB, 32 levels, integers of 64 bits"),
    (datafiles.MAX_TOML_DEPTH, 32, "1 MiB, 32 levels, integers of 64 bits"),
    (table.LARGEST_NUMBER, 1 << 40, "2^40; 64 cores, 4,096 banks"),
    (read.MOST_CORES, 64, "2^40; 64 cores, 4,096 banks"),
    (read.MOST_BANKS, 4096, "2^40; 64 cores, 4,096 banks"),
    (npz.MAX_DATA_BYTES, 4 << 30, "4 GiB, as a file and unpacked"),
    (process.OUTPUT_LIMIT, 256 << 20, "256 MiB of output"),
    (build.TIMEOUT_S, 300, "5 for the host's compiler, 30 for `profile`"),
    (profiling.TIMEOUT_S, 1800, "5 for the host's compiler, 30 for `profile`"),
)


@pytest.mark.parametrize(("found", "value", "words"), STATED)
def test_the_page_states_the_limits_of_the_code(found: float, value: float, words: str) -> None:
    assert found == value
    assert words in PAGE


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:codegen|tests|runtime_c)[\w/.]+)`", PAGE)
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).is_file()] == []
