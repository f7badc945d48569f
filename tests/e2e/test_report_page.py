"""The report in a browser: no word on the console, no request; every tab, table, picture and key; for everybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import codegen
import codegen.api
from codegen.api import Report
from codegen.report.columns import size_text
from codegen.report.table import as_json
from tests.e2e.projects import DIGITS, TINY
from tests.support.browser import Browser
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_module

FLOAT, DATA = DIGITS.with_name("digits.onnx"), DIGITS.with_name("digits_calib.npz")
TABS = ["summary", "chips", "graph", "memory", "cost", "accuracy", "rules", "interface", "changes"]
MOST_BYTES = 8 << 20

SHOWN = "return [...document.querySelectorAll('.panel')].filter((p) => p.checkVisibility()).map((p) => p.id)"
SORTS = """
const wrong = [];
const value = (cell) => {
  const said = cell.dataset.value ?? cell.textContent.trim(), number = Number(said.replaceAll(",", ""));
  return said === "" || said === "\\u2013" ? null : Number.isNaN(number) ? said : number;
};
const numbers = (a, b) => typeof a === "number" && typeof b === "number";
const after = (a, b) => (numbers(a, b) ? a >= b : String(a).localeCompare(String(b)) >= 0);
const texts = (table) => [...table.tBodies[0].rows].map((row) => row.textContent).sort().join();
for (const table of document.querySelectorAll("table.sortable")) {
  const before = texts(table);
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    for (const way of ["ascending", "descending"]) {
      head.querySelector("button").click();
      const found = [...table.tBodies[0].rows].map((row) => value(row.cells[column]));
      const there = found.filter((v) => v !== null), rises = way === "ascending";
      const sorted = there.every((v, i) => !i || (rises ? after(v, there[i - 1]) : after(there[i - 1], v)));
      const last = found.slice(there.length).every((v) => v === null), said = head.getAttribute("aria-sort");
      if (!sorted || !last || said !== way) wrong.push(`${table.id} ${head.textContent} ${way}`);
    }
  });
  if (texts(table) !== before) wrong.push(`${table.id} lost rows`);
}
return wrong;
"""
BEHIND = """
const count = (selector, inside) => inside.querySelectorAll(selector).length;
const rows = (name) => count(`#${name} tbody tr`, document);
return [...document.querySelectorAll("svg")].map((svg) => {
  const part = svg.closest(".of-target") ?? svg.closest(".panel"), number = part.dataset.target;
  if (svg.closest(".graph")) return ["graph", count(".box:not(.input)", svg), rows(`layers-${number}`)];
  if (svg.matches(".memory")) return ["memory", count(".held", svg), rows(`held-${number}`)];
  if (count(".dot.taken", svg)) return ["front", count(".dot", svg), rows(`front-${number}`)];
  if (count(".roof", svg)) {
    const macs = [...document.querySelectorAll(`#layers-${number} tbody tr .bar:nth-of-type(5)`)];
    return ["roof", count(".dot", svg), macs.filter((cell) => Number(cell.dataset.value) > 0).length];
  }
  if (svg.closest("#histogram")) return ["histogram", count("g", svg), rows("bins")];
  if (svg.closest("#scatter")) return ["scatter", count(".pair", svg), rows("pairs")];
  return ["a picture that nobody knows", 1, 0];
});
"""
CLICK = """
const found = document.querySelectorAll(arguments[0])[arguments[1]];
found.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
return location.hash.slice(1);
"""
CELLS = """
const rows = [...document.querySelectorAll(`${arguments[0]} tbody tr, tr${arguments[0]}`)];
return rows.map((row) => [...row.cells].map((cell) => cell.textContent));
"""
AXE = """
const done = arguments[arguments.length - 1];
const serious = (found) => found.violations
  .filter((v) => ["serious", "critical"].includes(v.impact))
  .map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.html} ${n.failureSummary}`).join(" | ")}`);
const structure = { resultTypes: ["violations"], rules: { "color-contrast": { enabled: false } } };
const colours = { resultTypes: ["violations"], runOnly: ["color-contrast"] };
const parts = [[document, structure], [".shown, header", colours]].slice(0, LAST);
(async () => {
  const found = [];
  for (const [part, options] of parts) found.push(...serious(await axe.run(part, options)));
  done(found);
})();
"""
AXE_STRUCTURE, AXE = AXE.replace("LAST", "1"), AXE.replace("LAST", "2")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Report]:
    folder = tmp_path_factory.mktemp("page")
    older = folder / "old.json"
    before = codegen.write_report(DIGITS, folder / "old.html", ["cortex-m4"], chips=False, goal="memory")
    older.write_text(as_json(before))
    words: dict[str, Any] = {"float_model": FLOAT, "data": DATA, "others": [TINY], "against": older}
    report = codegen.write_report(DIGITS, folder / "r.html", ["cortex-m4", "rdk-x3"], **words)
    return (folder / "r.html").as_uri(), report


def choose(browser: Browser, tab: str) -> None:
    browser.run("document.getElementById(`tab-${arguments[0]}`).click()", tab)


def click(browser: Browser, selector: str, index: int) -> str:
    """Click one of the elements; what the address names then."""
    found: str = browser.run(CLICK, selector, index)
    return found


def figures(browser: Browser, table: str) -> list[list[float]]:
    """The numbers of a table."""
    return [[float(cell) for cell in row] for row in browser.run(CELLS, table)]


def check_page(browser: Browser, address: str, tabs: list[str]) -> None:
    """What holds of every report: it is quiet, asks for nothing, fits the window, sorts, and has its tables."""
    for width, dark in ((1440, False), (360, True)):
        browser.open(address, width, dark=dark)
        assert browser.run("return [...document.querySelectorAll('nav a')].map((a) => a.hash.slice(1))") == tabs
        for tab in tabs:
            choose(browser, tab)
            assert browser.run(SHOWN) == [tab]
            assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), (tab, width)
        assert browser.run(SORTS) == []
        for picture, shown, told in browser.run(BEHIND):
            assert shown == told > 0, picture
        assert [url for url in browser.asked() if not url.startswith("data:")] == [address]
        assert browser.said() == []


def axe() -> str:
    """The script that finds what keeps people from using a page."""
    require_module("axe_core_python")
    from axe_core_python.base import AXE_SCRIPT

    return str(AXE_SCRIPT)


def check_for_everybody(browser: Browser, address: str, tabs: list[str]) -> None:
    """No serious finding of axe-core, on any tab, light and dark."""
    for dark in (False, True):
        browser.open(address, dark=dark)
        browser.run(axe())
        for tab in tabs:
            choose(browser, tab)
            assert browser.run_async(AXE) == [], (tab, dark)


def test_the_page_is_quiet_and_whole_at_any_width(browser: Browser, made: tuple[str, Report]) -> None:
    check_page(browser, made[0], TABS)


@pytest.mark.slow
def test_a_small_page_is_for_everybody(browser: Browser, tmp_path: Path) -> None:
    codegen.write_report(TINY, tmp_path / "r.html", ["cortex-m4", "rdk-x3"], chips=False)
    check_for_everybody(
        browser, (tmp_path / "r.html").as_uri(), [t for t in TABS[:-1] if t not in ("chips", "accuracy")]
    )


@pytest.mark.slow
def test_the_page_is_for_everybody(browser: Browser, made: tuple[str, Report]) -> None:
    check_for_everybody(browser, made[0], TABS)


def test_tabs_are_reached_by_keys_and_by_address(browser: Browser, made: tuple[str, Report]) -> None:
    browser.open(made[0])
    browser.run("document.getElementById('tab-summary').focus()")
    for tab in (*TABS[1:], TABS[0]):
        browser.press("ArrowRight")
        assert browser.run(SHOWN) == [tab]
        assert browser.run("return document.activeElement.getAttribute('aria-selected')") == "true"
    browser.press("ArrowLeft")
    assert browser.run(SHOWN) == [TABS[-1]]
    browser.open(f"{made[0]}#layer-1-2")
    assert browser.run(SHOWN) == ["cost"]
    assert browser.run("return document.getElementById('layer-1-2').checkVisibility()")
    assert browser.run("return document.getElementById('target').value") == "1"


def test_a_target_is_chosen_for_all_tabs(browser: Browser, made: tuple[str, Report]) -> None:
    browser.open(made[0])
    shown = (
        "const parts = [...document.querySelectorAll('.shown > .of-target')].filter((p) => p.checkVisibility());"
        "return parts.map((p) => p.dataset.target)"
    )
    for number in ("1", "0"):
        browser.run(
            "const t = document.getElementById('target'); t.value = arguments[0]; t.dispatchEvent(new Event('change'))",
            number,
        )
        for tab in ("summary", "graph", "memory", "cost", "rules", "interface"):
            choose(browser, tab)
            assert browser.run(shown) == [number]


def test_the_graph_is_searched_enlarged_dragged_and_asked(browser: Browser, made: tuple[str, Report]) -> None:
    layers = made[1].targets[0].layers
    browser.open(made[0], 900, 600)
    choose(browser, "graph")
    look = """
    const search = document.querySelector("[data-marks=graph-0]");
    search.value = arguments[0]; search.dispatchEvent(new Event("input"));
    return document.querySelectorAll("#graph-0 .found").length;
    """
    assert browser.run(look, "CONV2D by") == sum(row.operator == "Conv2D" for row in layers)
    assert browser.run(look, "") == 0
    wide = "return document.querySelector('#graph-0 svg').clientWidth"
    sizes = [browser.run(wide)]
    for button in ("1.25", "0.8", "0"):
        browser.run("document.querySelector(`#graph [data-zoom='${arguments[0]}']`).click()", button)
        sizes.append(browser.run(wide))
    assert sizes[1] > sizes[0]
    assert sizes[2] < sizes[1]
    browser.run("document.getElementById('graph-0').focus()")
    browser.press("+")
    assert browser.run(wide) > sizes[3]
    x, y = browser.run(
        "const graph = document.getElementById('graph-0'); graph.scrollIntoView({ block: 'end' }); graph.scrollTop = 0;"
        "const r = graph.getBoundingClientRect(); return [r.x + 20, r.bottom - 20]"
    )
    for kind, place in (
        ("mousePressed", y),
        ("mouseMoved", y - 60),
        ("mouseMoved", y - 120),
        ("mouseReleased", y - 120),
    ):
        browser.tell("Input.dispatchMouseEvent", type=kind, x=x, y=place, button="left", buttons=1, clickCount=1)
    assert browser.run("return document.getElementById('graph-0').scrollTop") > 60
    click(browser, "#graph-0 .box", 3)
    said = browser.run("return document.querySelector('#details-0 .shown').textContent")
    row = layers[2]
    for text in (row.name, row.kernel, row.form, row.rows, f"{row.macs:,}", *row.source):
        assert text in said


def test_a_clicked_edge_has_the_numbers_of_both_networks(browser: Browser, made: tuple[str, Report]) -> None:
    assert made[1].accuracy is not None
    browser.open(made[0])
    known = {n.tensor: n for n in made[1].accuracy.numbers}
    for edge, tensor in ((0, "image"), (1, "stem_relu"), (4, "pool")):
        click(browser, "#graph-0 .edge", edge)
        rows = browser.run(CELLS, "#details-0 .shown")
        numbers = known[tensor]
        assert [int(row[0]) for row in rows] == list(numbers.at)
        for (_, real, held, away), (a, b) in zip(rows, numbers.pairs, strict=True):
            assert float(real) == pytest.approx(a, rel=1e-4)
            assert float(held) == pytest.approx(b, rel=1e-4)
            assert float(away) == pytest.approx(b - a, abs=1e-4)
    browser.run("document.querySelector('#details-0 .shown [data-tensor]').click()")
    assert browser.wait("return document.getElementById('accuracy').checkVisibility()")
    assert browser.run("return document.querySelector('#tensor option:checked').textContent") == "pool"


def test_tooltips_tell_what_lies_under_the_pointer(browser: Browser, made: tuple[str, Report]) -> None:
    plan = made[1].targets[0].plan
    assert plan is not None
    browser.open(made[0])
    tip = "const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent"
    assert browser.run(tip) == ""
    choose(browser, "memory")
    browser.hover("#memory [data-target='0'] .held.output")
    tensor = next(t for t in plan.tensors if t.kind == "output")
    groups = f"groups {tensor.first_group} to {tensor.last_group}"
    assert browser.run(tip) == f"output {tensor.tensor}: {tensor.bytes} B at {tensor.offset}, {groups}"
    browser.press("Escape")
    assert browser.run(tip) == ""
    browser.run("document.querySelector('#memory .dot').focus()")
    assert f"{plan.front[0].groups} groups" in browser.run(tip)
    choose(browser, "graph")
    browser.hover("#graph-0 .box.input")
    assert browser.run(tip) == "input image"


def test_points_lead_to_their_plans_and_layers(browser: Browser, made: tuple[str, Report]) -> None:
    plan, roof = made[1].targets[0].plan, made[1].roofs[0]
    assert plan is not None
    browser.open(made[0])
    choose(browser, "memory")
    for index, point in enumerate(plan.front):
        row = click(browser, "#memory [data-target='0'] .dot", index)
        (cells,) = browser.run(CELLS, f"#{row}")
        fused = "; ".join(" + ".join(group) for group in point.fused) or "none"
        assert cells == [
            size_text(point.peak_bytes),
            f"{point.time:.0f}",
            str(point.groups),
            "this one" * point.chosen,
            fused,
        ]
        assert browser.run("return document.getElementById(arguments[0]).matches(':target')", row)
    click(browser, "#memory .held.output", 0)
    held = browser.run("return document.querySelector('#memory .held.output').dataset.row")
    assert browser.wait(f"return document.getElementById('{held}').checkVisibility()")
    choose(browser, "cost")
    counted = [cost for cost in roof.layers if cost.macs]
    for index, cost in enumerate(counted):
        row = click(browser, "#cost [data-target='0'] .dot", index)
        assert browser.run("return document.getElementById(arguments[0]).cells[0].textContent", row) == cost.layer


def test_histograms_and_scatters_are_those_of_the_record(browser: Browser, made: tuple[str, Report]) -> None:
    report = made[1]
    assert report.accuracy is not None
    browser.open(made[0])
    choose(browser, "accuracy")
    first = browser.run("return document.querySelector('#tensor option:checked').textContent")
    assert first == report.guilty[0].tensor == min(report.accuracy.tensors, key=lambda t: t.own_sqnr).tensor
    for index, numbers in enumerate(report.accuracy.numbers):
        browser.run(
            "const t = document.getElementById('tensor'); t.value = arguments[0]; t.dispatchEvent(new Event('change'))",
            str(index),
        )
        bins = figures(browser, "#bins")
        assert [row[2] for row in bins] == [float(f"{n:.5g}") for n in numbers.real]
        assert [row[3] for row in bins] == [float(f"{n:.5g}") for n in numbers.held]
        assert bins[0][0] == pytest.approx(numbers.first, rel=1e-4)
        assert bins[-1][1] == pytest.approx(numbers.last, rel=1e-4)
        assert [row[1:3] for row in figures(browser, "#pairs")] == [
            pytest.approx(pair, rel=1e-4) for pair in numbers.pairs
        ]


def test_rules_stand_there_with_their_sentences(browser: Browser, made: tuple[str, Report]) -> None:
    report = made[1]
    browser.open(made[0])
    choose(browser, "rules")
    broken = report.targets[1].violations
    assert broken
    text = browser.run("return document.querySelector('#rules [data-target=\"1\"]').textContent")
    assert all(v.id in text and v.message in text and v.where in text and v.hint in text for v in broken)
    for chip in (c for c in report.chips if c.rules):
        text = browser.run("return document.getElementById(`rules-of-${arguments[0]}`).textContent", chip.target)
        assert all(v.message in text for v in chip.rules)


def test_the_matrix_and_the_changes_say_what_the_records_say(browser: Browser, made: tuple[str, Report]) -> None:
    report = made[1]
    browser.open(made[0])
    chips = {c.target: (c, o) for c in report.chips for o in report.others[0].chips if o.target == c.target}
    found = browser.run(CELLS, "#matrix-table")
    assert {row[0] for row in found} == set(chips)
    for row in found:
        for fit, said in zip(chips[row[0]], row[1:], strict=True):
            assert said == fit.reason if not fit.fits else said.endswith(size_text(fit.arena_bytes or 0))
    changed = browser.run(CELLS, "#change-table")
    assert [row[:5] for row in changed] == [
        [c.target, c.layer or "the network", c.what, c.before, c.now] for c in report.changes
    ]
    arena = next(row for row in changed if row[2] == "arena")
    assert arena[6] == "worse", "it was compiled for memory before"


def test_numbers_of_the_page_are_those_of_json(browser: Browser, made: tuple[str, Report]) -> None:
    said = json.loads(as_json(made[1]))
    browser.open(made[0])
    column = """
    const table = document.getElementById(arguments[0]);
    const at = [...table.tHead.rows[0].cells].findIndex((c) => c.textContent.trim() === arguments[1]);
    return [...table.tBodies[0].rows].map((r) => r.cells[at].dataset.value ?? r.cells[at].textContent);
    """
    layers, roof = said["targets"][0]["layers"], said["roofs"][0]["layers"]
    for head, values in {
        "MACs": [row["macs"] for row in layers],
        "about cycles": [row["cycles"] for row in layers],
        "weights": [row["weights_bytes"] for row in layers],
        "scratch": [row["scratch_bytes"] for row in layers],
        "least instructions": [row["least"] for row in roof],
        "moved": [row["moved_bytes"] for row in roof],
    }.items():
        assert browser.run(column, "layers-0", head) == ["" if v is None else str(v) for v in values], head
    assert browser.run(column, "guilty-table", "tensor") == [g["tensor"] for g in said["guilty"]]
    assert browser.run(column, "guilty-table", "own SQNR dB") == [f"{g['own_sqnr']:.1f}" for g in said["guilty"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "chip", "words"),
    [
        (
            "mlperf_tiny_onnx/resnet8_qdq.onnx",
            "cortex-m4",
            {
                "measure": True,
                "float_model": "models/mlperf_tiny_onnx/resnet8_f32.onnx",
                "data": ("data/cifar10_calib200.npz", "resnet8.toml"),
            },
        ),
        ("tflite/mobilenet_v2_int8.tflite", "cortex-m7", {"chips": False}),
        (
            "onnx/fastestdet_352_qdq.onnx",
            "stm32h743zi",
            {
                "chips": False,
                "float_model": "models/onnx/fastestdet_352_f32.onnx",
                "data": ("data/coco_detect48.npz", "fastestdet.toml"),
            },
        ),
    ],
    ids=["resnet8", "mobilenet_v2", "fastestdet"],
)
def test_reports_of_real_networks(
    model: str, chip: str, words: dict[str, Any], browser: Browser, tmp_path: Path
) -> None:
    shared = shared_dir()
    given = {key: value for key, value in words.items() if key != "data"}
    if "data" in words:
        given["float_model"] = shared / words["float_model"]
        data, config = words["data"]
        config = ROOT / "benchmarks" / "configs" / config
        given["data"] = codegen.api.read_samples(given["float_model"], shared / data, config, 4)
    report = codegen.write_report(shared / "models" / model, tmp_path / "r.html", [chip], **given)
    assert (tmp_path / "r.html").stat().st_size < MOST_BYTES
    there = {"changes": False, "accuracy": report.accuracy is not None, "chips": bool(report.chips)}
    tabs = [tab for tab in TABS if there.get(tab, True)]
    check_page(browser, (tmp_path / "r.html").as_uri(), tabs)
    browser.open((tmp_path / "r.html").as_uri())
    browser.run(axe())
    assert browser.run_async(AXE_STRUCTURE) == [], "colours are those of the small pages"


def test_paper_shows_everything(browser: Browser, made: tuple[str, Report]) -> None:
    browser.open(made[0])
    browser.tell("Emulation.setEmulatedMedia", media="print")
    assert browser.run(SHOWN) == TABS
    parts = "return [...document.querySelectorAll('.of-target')].every((p) => p.checkVisibility())"
    assert browser.run(parts)


def test_a_page_without_its_script_shows_everything(browser: Browser, made: tuple[str, Report]) -> None:
    browser.tell("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(made[0])
        assert browser.run(SHOWN) == TABS
    finally:
        browser.tell("Emulation.setScriptExecutionDisabled", value=False)
