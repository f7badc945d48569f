"""How large the reports of real networks are, and how long a browser takes to draw one.

    python benchmarks/report.py

Of one chip, without the ranking of all; beside the float model where there is one, on four samples.  Each page is
opened from the disk in a Chromium without a screen, five times; `drawn` is the median of the milliseconds from the
start of the navigation to the end of loading or the first picture, whichever is later, on this machine.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

import codegen
from codegen.api import read_samples
from tests.support.browser import Browser, opened

RUNS, SAMPLES = 5, 4
CONFIGS = Path(__file__).with_name("configs")
FRAMES = "const told = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => told(true)));"


def drawn(browser: Browser, page: Path) -> tuple[float, int]:
    """Milliseconds until it is drawn, and how many elements it has."""
    found = []
    for _ in range(RUNS):
        browser.open(page.as_uri())
        timing = "const [n] = performance.getEntriesByType('navigation'); return n.domComplete"
        paint = "const p = performance.getEntriesByName('first-contentful-paint'); return p.length ? p[0].startTime : 0"
        browser.run_async(FRAMES)
        found.append(max(browser.run(timing), browser.run(paint)))
    return statistics.median(found), browser.run("return document.querySelectorAll('*').length")


def beside(model: Path, data: Path, config: str) -> dict[str, Any]:
    """The float model, and its first samples."""
    samples = read_samples(model, data, CONFIGS / f"{config}.toml", SAMPLES)
    return {"float_model": model, "data": samples}


def main() -> None:
    """Print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    shared = parser.parse_args().shared
    models, data = shared / "models", shared / "data"
    resnet, fastest = models / "mlperf_tiny_onnx" / "resnet8_f32.onnx", models / "onnx" / "fastestdet_352_f32.onnx"
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("mlperf_tiny_onnx/resnet8_qdq.onnx", "cortex-m4", beside(resnet, data / "cifar10_calib200.npz", "resnet8")),
        ("tflite/mobilenet_v2_int8.tflite", "cortex-m7", {}),
        ("onnx/fastestdet_352_qdq.onnx", "stm32h743zi", beside(fastest, data / "coco_detect48.npz", "fastestdet")),
    ]
    print("| network | page KiB | elements | drawn ms |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, opened() as browser:
        for name, chip, words in cases:
            page = Path(folder) / "r.html"
            codegen.write_report(models / name, page, [chip], chips=False, **words)
            time, count = drawn(browser, page)
            print(f"| {Path(name).stem} | {page.stat().st_size / 1024:.0f} | {count} | {time:.0f} |")


if __name__ == "__main__":
    main()
