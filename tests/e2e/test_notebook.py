"""What a notebook shows of a plan, an inspection, a profile and a quantization: whole fragments, quiet in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import codegen
from codegen.report.columns import size_text
from codegen.report.fragments import Table, fragment
from tests.e2e.projects import DIGITS, TINY
from tests.e2e.test_report import Page
from tests.support.browser import Browser
from tests.support.hostile import NAMES, onnx_named
from tests.support.tools import require_tool


@pytest.fixture(scope="module")
def records() -> dict[str, Any]:
    require_tool("arm-none-eabi-gcc", "qemu-system-arm")
    look = codegen.inspect(DIGITS, "cortex-m4")
    return {
        "inspection": look,
        "plan": look.plan,
        "profile": codegen.profile(TINY, "cortex-m4"),
        "quantized": codegen.quantize(DIGITS.with_name("digits.onnx"), DIGITS.with_name("digits_calib.npz")),
        "refused": codegen.inspect(DIGITS, "rdk-x3"),
    }


def test_fragments_are_whole_and_ask_for_nothing(browser: Browser, records: dict[str, Any], tmp_path: Path) -> None:
    parts = [record._repr_html_() for record in records.values()]
    for part in parts:
        page = Page(part)
        assert page.tags[:2] == ["div", "style"]
        assert not {"script", "link", "img", "iframe"} & set(page.tags)
        assert not re.search(r"https?://|@import|url\(|<[a-z]+ on", part)
    (tmp_path / "n.html").write_text(f"<!doctype html><meta charset=utf-8><title>n</title>{''.join(parts)}")
    browser.open((tmp_path / "n.html").as_uri())
    assert browser.said() == []
    assert browser.asked() == [(tmp_path / "n.html").as_uri()]
    assert browser.run("return [...document.querySelectorAll('svg')].map((s) => s.clientHeight > 100)") == [True] * 3


def test_their_numbers_are_those_of_the_records(records: dict[str, Any]) -> None:
    look, profile, quantized = records["inspection"], records["profile"], records["quantized"]
    page = Page(look._repr_html_())
    assert page.column("table0", "layer") == [row.name for row in look.layers]
    assert page.column("table0", "MACs") == [f"{row.macs:,}" for row in look.layers]
    assert page.column("table0", "weights") == [size_text(row.weights_bytes) for row in look.layers]
    plan = Page(look.plan._repr_html_())
    assert plan.column("table1", "bytes") == [f"{t.bytes:,}" for t in look.plan.tensors]
    counted = Page(profile._repr_html_())
    assert counted.column("table0", "instructions") == [f"{x.instructions:,}" for x in profile.layers]
    assert f"<strong>{profile.instructions:,}</strong>" in profile._repr_html_()
    tensors = Page(quantized._repr_html_())
    assert tensors.column("table0", "SQNR dB") == [f"{t.sqnr:.4g}" for t in quantized.report.tensors]
    refused = Page(records["refused"]._repr_html_())
    assert refused.column("table0", "reason") == [v.message for v in records["refused"].violations]


@pytest.mark.parametrize("stem", NAMES)
def test_names_of_a_model_are_text(stem: str) -> None:
    look = codegen.inspect(onnx_named(stem), "generic")
    plain = codegen.inspect(onnx_named("t"), "generic")
    for record, other in ((look, plain), (look.plan, plain.plan)):
        assert record is not None
        text = record._repr_html_()
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
        shown = [tag for tag in Page(text).tags if tag != "text"]
        assert other is not None
        assert shown == [tag for tag in Page(other._repr_html_()).tags if tag != "text"]


def test_missing_figures_are_left_out_and_missing_cells_are_dashes() -> None:
    made = fragment(
        "<t>", [("a", None), ("b", 1234567), ("c", 0.5)], [Table("e", ("x",), []), Table("f", ("x",), [(None,)])]
    )
    assert "&lt;t&gt;" in made
    assert ">a: " not in made
    assert "<strong>1,234,567</strong>" in made
    assert Page(made).rows == {"table0": [["x"], ["\N{EN DASH}"]]}
