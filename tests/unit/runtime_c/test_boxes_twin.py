"""Suppression of boxes: codegen/float32/boxes.py and lam_nms.h against ONNX Runtime and each other."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from codegen.float32.boxes import overlapping, suppressed
from codegen.ir.quant import Array
from codegen.resources import resource_dir
from tests.support.tools import require_module, require_tool

INCLUDE = resource_dir("runtime_c") / "include"
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Wundef -Wdouble-promotion -Werror"
BUILDS = {
    "gcc": "-std=c99 -O3 -march=native",
    "gcc-gnu": "-std=gnu99 -O3 -march=native",
    "gcc-sanitized": "-std=c99 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all",
    "clang": "-std=c99 -O2 -fsanitize=undefined -fno-sanitize-recover=all",
}
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include "lam_nms.h"
int main(void)
{
    int32_t head[3];
    float limits[2];
    while (fread(head, sizeof head[0], 3, stdin) == 3u && fread(limits, sizeof limits[0], 2, stdin) == 2u) {
        const size_t count = (size_t)head[0];
        float *boxes = malloc(16u * count + 1u);
        float *scores = malloc(4u * count + 1u);
        int32_t *order = malloc(4u * count + 1u);
        int32_t found;
        if (boxes == NULL || scores == NULL || order == NULL || fread(boxes, 16, count, stdin) != count ||
            fread(scores, 4, count, stdin) != count) {
            return 1;
        }
        found = lam_nms_above(scores, head[0], limits[0], order);
        lam_nms_sort(scores, order, found);
        found = lam_nms_keep(boxes, order, found, head[1], limits[1], head[2]);
        (void)fwrite(&found, sizeof found, 1, stdout);
        (void)fwrite(order, sizeof order[0], (size_t)found, stdout);
        free(boxes);
        free(scores);
        free(order);
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Case:
    """Boxes, their scores and what is asked of them."""

    boxes: Array
    scores: Array
    least: float
    limit: float
    most: int
    centred: bool

    @property
    def kept(self) -> list[int]:
        found = suppressed(self.boxes, self.scores, self.least, self.limit, self.most, centred=self.centred)
        return [int(i) for i in found]


def drawn(seed: int) -> Case:
    """Boxes that overlap by all amounts, on a coarse grid every other time, so that overlaps and scores are equal."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 120))
    coarse, centred = seed % 2 == 0, bool(rng.integers(2))
    step = np.float32(0.25 if coarse else 1e-7)
    boxes = rng.random((count, 4)).astype(np.float32) * np.float32(rng.choice([1, 4, 300]))
    boxes = np.round(boxes / step).astype(np.float32) * step
    scores = rng.random(count).astype(np.float32)
    scores = np.round(scores * 8).astype(np.float32) / np.float32(8) if coarse else scores
    least, limit = (float(np.float32(rng.choice(of))) for of in ([0.05, 0.5, 0.25], [0.0, 0.25, 0.5, 1 / 3, 0.45, 0.8]))
    return Case(boxes, scores, least, limit, int(rng.integers(1, count + 1)), centred)


def selected_by_onnxruntime(case: Case) -> list[int]:
    """What the operator NonMaxSuppression of ONNX Runtime selects."""
    from tests.support.onnx_files import by_onnxruntime

    boxes, scores = case.boxes[None], case.scores[None, None]
    limits = np.array([case.most], np.int64), np.array([case.limit], np.float32), np.array([case.least], np.float32)
    chosen = by_onnxruntime("NonMaxSuppression", boxes, scores, *limits, center_point_box=int(case.centred))
    return [int(i) for i in chosen[:, 2]]


@pytest.mark.parametrize(("first", "count"), [(0, 100), pytest.param(100, 500, marks=pytest.mark.slow)])
def test_selects_what_onnx_runtime_does(first: int, count: int) -> None:
    require_module("onnx", "onnxruntime")
    for seed in range(first, first + count):
        case = drawn(seed)
        assert case.kept == selected_by_onnxruntime(case), seed


@pytest.mark.one_in(4)
@pytest.mark.parametrize("build", BUILDS)
def test_c_is_golden(build: str, tmp_path: Path) -> None:
    compiler = build.split("-")[0]
    require_tool(compiler)
    (tmp_path / "driver.c").write_text(DRIVER)
    words = [*BUILDS[build].split(), *STRICT.split(), f"-I{INCLUDE}", str(tmp_path / "driver.c")]
    subprocess.run([compiler, *words, "-o", str(tmp_path / "driver")], check=True)
    cases = [drawn(seed) for seed in range(600)]
    done = subprocess.run(
        [str(tmp_path / "driver")], input=b"".join(map(packed, cases)), capture_output=True, check=True
    )
    said = np.frombuffer(done.stdout, np.int32).tolist()
    for seed, case in enumerate(cases):
        count = said.pop(0)
        assert said[:count] == case.kept, seed
        del said[:count]
    assert not said


def packed(case: Case) -> bytes:
    """As the driver reads it."""
    head = np.array([len(case.scores), case.centred, case.most], np.int32).tobytes()
    return (
        head + np.array([case.least, case.limit], np.float32).tobytes() + case.boxes.tobytes() + case.scores.tobytes()
    )


def test_boxes_without_an_area_overlap_nothing() -> None:
    """A line, a point, and a box of negative size when it is said by its middle."""
    boxes = np.array([[0, 0, 0, 4], [1, 1, 1, 1], [0, 0, 4, 4]], np.float32)
    assert not overlapping(boxes[0], boxes, 0.0).any()
    assert not overlapping(np.array([2, 2, -4, 4], np.float32), boxes[2:], 0.0, centred=True).any()


def test_corners_may_be_any_two_opposite_ones() -> None:
    boxes = np.array([[4, 0, 0, 4], [0, 4, 4, 0], [4, 4, 0, 0]], np.float32)
    assert overlapping(np.array([0, 0, 4, 4], np.float32), boxes, 0.99).all()
