"""What streaming by rows costs in time: instructions on the emulated Cortex-M4 beside those of every layer alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import codegen
from codegen.pipeline import Options, compile_file
from tests.support.real import model_path
from tests.support.tools import require_board

CHIP = "cortex-m4"
AT_THE_SMALLEST = {"kws_qdq": 0.15, "resnet8_qdq": 0.2, "vww_qdq": 0.15}
AT_TWICE_THE_SMALLEST = 0.05
"""Instructions more than without groups: for the smallest arena, and for the fastest plan within twice that.

Goal `memory` takes no kernels of more flash, which two layers of resnet8 have otherwise: 4 products for 6.
"""


def sizes_of_groups(path: Path, options: Options) -> list[int]:
    return [len(group.nodes) for group in compile_file(path, options).plan.groups]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kws_qdq", "resnet8_qdq", "vww_qdq"])
def test_groups_take_few_instructions_more(name: str) -> None:
    require_board(CHIP)
    path = model_path(name)
    alone = codegen.profile(path, CHIP, goal="speed")
    least = codegen.profile(path, CHIP, goal="memory")
    twice = codegen.profile(path, CHIP, arena_limit=2 * least.arena_bytes)
    assert max(sizes_of_groups(path, Options(target=CHIP, goal="speed", vectors=0))) == 1
    assert max(sizes_of_groups(path, Options(target=CHIP, goal="memory", vectors=0))) > 1
    assert least.arena_bytes < alone.arena_bytes
    assert least.arena_bytes <= twice.arena_bytes <= 2 * least.arena_bytes
    assert alone.instructions
    assert least.instructions
    assert twice.instructions
    assert least.instructions <= alone.instructions * (1 + AT_THE_SMALLEST[name])
    assert twice.instructions <= alone.instructions * (1 + AT_TWICE_THE_SMALLEST)
