"""The report: numbers of the records, names that are no markup, a page that asks for nothing and works in a browser."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import codegen
from codegen.api import Report
from codegen.build import Net
from codegen.errors import CompileError
from codegen.report.columns import size_text
from tests.e2e.projects import DIGITS, TINY
from tests.support.hostile import NAMES, onnx_named, tflite_named
from tests.support.shared import ROOT

FLOAT = ROOT / "examples" / "digits" / "digits.onnx"
DATA = ROOT / "examples" / "digits" / "digits_calib.npz"
VOID = {"meta", "link", "input", "br"}


class Page(HTMLParser):
    """Tags in order, the cells of each table by its id, and every text; a tag left open or closed twice is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: dict[str, list[list[str]]] = {}
        self.attributes: list[tuple[str, str, str]] = []
        self._open: list[str] = []
        self._table = ""
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self._table = dict(attrs).get("id") or f"table{len(self.rows)}"
            self.rows[self._table] = []
        elif tag == "tr":
            self.rows[self._table].append([])
        elif tag in ("td", "th"):
            self.rows[self._table][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._table and "table" in self._open and self.rows[self._table] and self.rows[self._table][-1]:
            self.rows[self._table][-1][-1] += data.strip()

    def column(self, table: str, name: str) -> list[str]:
        head, *rows = self.rows[table]
        return [row[head.index(name)] for row in rows]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    path = tmp_path_factory.mktemp("report") / "digits.html"
    words = {"float_model": FLOAT, "data": DATA}
    return path, codegen.write_report(DIGITS, path, ["cortex-m4", "gap8-like"], **words)  # type: ignore[arg-type]


def test_the_page_has_the_numbers_of_the_records(made: tuple[Path, Report]) -> None:
    path, report = made
    page = Page(path.read_text())
    assert page.column("summary-table", "target") == ["cortex-m4", "gap8-like"]
    for index, look in enumerate(report.targets):
        assert page.column("summary-table", "arena")[index] == size_text(look.arena_bytes or 0)
        assert page.column(f"layers-{index}", "layer") == [row.name for row in look.layers]
        assert page.column(f"layers-{index}", "MACs") == [f"{row.macs:,}" for row in look.layers]
        assert page.column(f"layers-{index}", "kernel") == [row.kernel for row in look.layers]
        assert look.plan is not None
        assert page.column(f"held-{index}", "bytes") == [str(t.bytes) for t in look.plan.tensors]
        assert (f"front-{index}" in page.rows) == bool(look.plan.front)
    assert page.column("front-0", "taken").count("this one") == 1
    assert page.column("chip-table", "chip") == [chip.target for chip in report.chips]
    assert page.column("chip-table", "fits") == ["yes" if chip.fits else "no" for chip in report.chips]
    assert report.accuracy is not None
    worst = min(report.accuracy.tensors, key=lambda t: t.own_sqnr)
    assert page.column("accuracy-table", "tensor")[0] == worst.tensor


def test_the_page_asks_for_nothing_and_every_link_in_it_leads_somewhere(made: tuple[Path, Report]) -> None:
    text = made[0].read_text()
    page = Page(text)
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|@import|url\(", text)
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    links = [value for tag, name, value in page.attributes if name in ("href", "src") and tag != "link"]
    assert len(links) > 20
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_the_same_input_gives_the_same_page(tmp_path: Path) -> None:
    for name in ("a", "b"):
        codegen.write_report(TINY, tmp_path / f"{name}.html", ["cortex-m55"], chips=False)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("make", "ending"), [(onnx_named, "onnx"), (tflite_named, "tflite")])
def test_names_are_text_and_never_markup(make: object, ending: str, tmp_path: Path) -> None:
    def tags(stem: str) -> list[str]:
        (tmp_path / f"m.{ending}").write_bytes(make(stem))  # type: ignore[operator]
        codegen.write_report(tmp_path / f"m.{ending}", tmp_path / "m.html", ["generic"], chips=False)
        text = (tmp_path / "m.html").read_text()
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
        return [tag for tag in Page(text).tags if tag != "text"]

    plain = tags("t")
    for stem in NAMES:
        assert tags(stem) == plain


def test_what_a_target_does_not_run_stands_there_with_every_reason(tmp_path: Path) -> None:
    report = codegen.write_report(DIGITS, tmp_path / "r.html", ["avr"], chips=False, arena_limit=300)
    text = (tmp_path / "r.html").read_text()
    assert not report.targets[0].supported
    assert report.targets[0].violations
    assert all(v.id in text for v in report.targets[0].violations)


@pytest.mark.parametrize("layer", ["stem", "residual_first"])
def test_a_sabotaged_layer_stands_first(layer: str, tmp_path: Path) -> None:
    model = onnx.load(DIGITS)
    weights = next(t for t in model.graph.initializer if t.name == f"{layer}_weight_quantized")
    turned = numpy_helper.to_array(weights)[..., ::-1].copy()
    weights.CopyFrom(numpy_helper.from_array(turned, weights.name))
    onnx.save(model, tmp_path / "bad.onnx")
    words = {"float_model": FLOAT, "data": DATA, "chips": False, "samples": 8}
    report = codegen.write_report(tmp_path / "bad.onnx", tmp_path / "r.html", ["host"], **words)  # type: ignore[arg-type]
    text = (tmp_path / "r.html").read_text()
    assert "on 8 samples" in text
    page = Page(text)
    made = next(n.output[0] for n in model.graph.node if any(layer in i for i in n.input) and n.op_type == "Conv")
    assert page.column("accuracy-table", "tensor")[0] == made
    assert page.column("guilty-table", "tensor")[0] == made
    assert page.column("guilty-table", "advice")[0].startswith("its layer adds more than rounding")
    assert next(s for s in report.steps if s.kind == "accuracy").what == f"look at {made} (Conv)"


def test_the_summary_has_the_score_of_eval_and_of_the_float_network(tmp_path: Path) -> None:
    test = DATA.with_name("digits_test.npz")
    words = {"float_model": FLOAT, "eval_data": test, "limit": 60, "engine": "golden", "chips": False}
    report = codegen.write_report(DIGITS, tmp_path / "r.html", ["host"], **words)  # type: ignore[arg-type]
    made = codegen.evaluate(DIGITS, test, engine="golden", limit=60)
    real = codegen.evaluate(FLOAT, test, engine="float", limit=60)
    grade = report.grade
    assert grade is not None
    assert (grade.score, grade.float_score, grade.samples) == (made.value, real.value, 60)
    assert grade.lost == pytest.approx(100 * (real.value - made.value))
    text = (tmp_path / "r.html").read_text()
    assert f"{made.value:.2%}" in text
    assert f"float {real.value:.2%}" in text


def test_steps_say_what_was_tried(tmp_path: Path) -> None:
    net = Net("wide")
    x = net.quantized(net.input("image", (1, 4, 32, 32)), 0.02)
    w = net.weights(np.ones((4, 4, 3, 3), np.int8), 0.01)
    net.output(net.quantized(net.onnx.Conv(x, w, strides=[2, 2]), 0.05), "small")
    streamed = codegen.inspect(net.to_onnx(), "cortex-m4", stream_input=True).arena_bytes
    assert streamed is not None
    for limit, fits in ((streamed, True), (300, False)):
        words = {"chips": False, "arena_limit": limit}
        page = tmp_path / "r.html"
        report = codegen.write_report(net.to_onnx(), page, ["cortex-m4"], **words)  # type: ignore[arg-type]
        (found,) = report.tries
        assert (found.flags, found.supported) == (("--stream-input",), fits)
        steps = [step for step in report.steps if step.kind == "fit"]
        assert steps[0].what.startswith("compile with --stream-input") == fits
        assert any("not enough" in step.what for step in steps) != fits
        assert ("--stream-input" in steps[0].command) == fits


def test_steps_begin_with_what_keeps_it_off_the_chip_and_end_with_the_compile(made: tuple[Path, Report]) -> None:
    path, report = made
    page = path.read_text()
    order = [step.kind for step in report.steps]
    assert order == sorted(order, key=["fit", "accuracy", "speed", "ready"].index)
    assert {step.target for step in report.steps if step.kind == "ready"} == {"cortex-m4", "gap8-like"}
    assert all(step.target in ("", "cortex-m4", "gap8-like") for step in report.steps)
    for step in report.steps:
        assert step.what in page
    refused = codegen.write_report(DIGITS, path.with_name("x3.html"), ["rdk-x3"])
    rules = {v.id for v in refused.targets[0].violations}
    told = [step for step in refused.steps if step.kind == "fit"]
    assert rules
    assert all(any(id in step.why for step in told) for id in rules)
    fitting = [chip.target for chip in refused.chips if chip.fits]
    (other,) = (step for step in told if step.tab == "chips")
    assert other.what.removeprefix("take another chip, such as ") in fitting
    assert fitting[0] in other.why
    assert not any(step.kind == "ready" for step in refused.steps)


def test_an_older_report_is_compared_number_by_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from codegen.cli import main

    asked = ["report", str(DIGITS), "--no-chips", "-o", str(tmp_path / "r.html"), "-t", "cortex-m4"]
    assert main([*asked, "--json"]) == 0
    older = tmp_path / "old.json"
    older.write_text(capsys.readouterr().out)
    codegen.write_report(DIGITS, tmp_path / "r.html", ["cortex-m4"], chips=False, against=older)
    assert "Nothing differs" in (tmp_path / "r.html").read_text()
    said = json.loads(older.read_text())
    said["targets"][0]["arena_bytes"] += 100
    said["targets"][0]["layers"][0]["macs"] = 7
    del said["targets"][0]["layers"][1]
    older.write_text(json.dumps(said))
    report = codegen.write_report(DIGITS, tmp_path / "r.html", ["cortex-m4"], chips=False, against=older)
    first, second = report.targets[0].layers[:2]
    assert [(c.layer, c.what, c.before) for c in report.changes] == [
        ("", "arena", str(said["targets"][0]["arena_bytes"])),
        (first.name, "macs", "7"),
        (second.name, "layer", "not there"),
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("words", "id"),
    [
        ({"out": "r.pdf"}, "LAM-API-013"),
        ({"out": "no/such/folder/r.html"}, "LAM-API-013"),
        ({"out": "folder.html"}, "LAM-API-013"),
        ({"targets": []}, "LAM-IMPORT-030"),
        ({"targets": ["host", "host"]}, "LAM-IMPORT-030"),
        ({"targets": ["no-such-chip"]}, "LAM-TARGET-001"),
        ({"float_model": "f.onnx"}, "LAM-IMPORT-030"),
        ({"data": "d.npz"}, "LAM-IMPORT-030"),
        ({"against": "missing.json"}, "LAM-IMPORT-030"),
        ({"against": "broken.json"}, "LAM-IMPORT-030"),
        ({"against": "other.json"}, "LAM-IMPORT-030"),
        ({"against": "folder.html"}, "LAM-IMPORT-030"),
        ({"against": "pipe"}, "LAM-API-020"),
        ({"against": "/dev/zero"}, "LAM-API-020"),
        ({"model": "no.onnx"}, "LAM-IMPORT-002"),
        ({"sensitivity": True}, "LAM-IMPORT-030"),
        ({"samples": 0}, "LAM-API-012"),
        ({"samples": "many"}, "LAM-IMPORT-030"),
        ({"sensitivity": "yes"}, "LAM-IMPORT-030"),
        ({"limit": 0}, "LAM-API-012"),
        ({"eval_data": "missing.npz"}, "LAM-API-003"),
        ({"scheduler": "nobody", "chips": True}, "LAM-CLUSTER-001"),
        ({"others": [TINY]}, "LAM-IMPORT-030"),
        ({"others": ["no.onnx"], "chips": True}, "LAM-IMPORT-002"),
        ({"others": ["broken.json"], "chips": True}, "LAM-IMPORT-003"),
        ({"others": 3, "chips": True}, "LAM-IMPORT-030"),
    ],
)
def test_what_cannot_be_reported_is_refused_and_nothing_written(
    words: dict[str, object], id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.html").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken.json").write_text("{" * 100000)
    (tmp_path / "other.json").write_text('{"targets": [{"target": "host", "layers": 3}]}')
    before = sorted(tmp_path.rglob("*"))
    given: dict[str, object] = {"model": TINY, "out": "r.html", "targets": ["host"], "chips": False, **words}
    with pytest.raises(CompileError) as caught:
        codegen.write_report(**given)  # type: ignore[arg-type]
    assert caught.value.problems()[0].code == id
    assert sorted(tmp_path.rglob("*")) == before
