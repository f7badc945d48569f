"""The generated C as it is made for few samples: it gives and refuses what it always does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.api import quantize
from codegen.errors import CompileError
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.pipeline import compile_file
from codegen.resources import resource_dir
from codegen.verbs.engines import Opening, open_engine
from tests.support.float_models import INPUT, OUTPUT, float_model, images


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("brief")
    out = folder / "q.onnx"
    quantize(float_model(folder / "small.onnx"), images(20), recipe="fast", out=out)
    return out


def answers(model: Path, target: str, *, brief: bool) -> list[Array]:
    with open_engine("c", model, Options(target=target), Opening(brief=brief)) as engine:
        return [engine.run({INPUT: x[None]})[OUTPUT] for x in images(3, seed=5)]


@pytest.mark.parametrize("target", ["host", "cortex-m4", "avr", "ppc32"])
def test_it_gives_the_same_numbers(model: Path, target: str) -> None:
    usual, brief = (answers(model, target, brief=brief) for brief in (False, True))
    assert all(np.array_equal(a, b) for a, b in zip(usual, brief, strict=True))
    assert any(a.any() for a in usual)


def test_weights_that_do_not_fit_the_flash_are_refused_alike(model: Path, tmp_path: Path) -> None:
    needed = compile_file(model, Options(target="generic")).program.params_bytes
    for flash, fits in ((needed, True), (needed - 1, False)):
        target = tmp_path / "chip.toml"
        text = (resource_dir("targets") / "chips" / "reference" / "generic.toml").read_text("utf-8")
        sizes = {"ram": 1 << 20, "flash": flash}
        memories = (f'[[memories]]\nname = "{k}"\nkind = "{k}"\nbytes = {n}\nsource = "t"\n' for k, n in sizes.items())
        target.write_text(text.split("[[memories]]")[0] + "".join(memories))
        said = [refusal(model, str(target), brief=brief) for brief in (False, True)]
        assert said[0] == said[1]
        assert (said[0] == "") == fits
        assert fits or "LAM-SCHEDULE-302" in said[0]


def refusal(model: Path, target: str, *, brief: bool) -> str:
    try:
        answers(model, target, brief=brief)
    except CompileError as error:
        return error.problems()[0].text()
    return ""
