"""A Chromium without a screen, driven over WebDriver: pages are opened, scripts run, and requests told.

One is started for all tests (`browser` in tests/conftest.py): starting takes a second, opening a page a tenth.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.tools import require_tool

_QUIET = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars"
)
_TIMEOUT_S = 60


class Browser:
    """A tab of the browser."""

    def __init__(self, driver: str, user: str) -> None:
        chrome = {"args": [*_QUIET.split(), f"--user-data-dir={user}"]}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": chrome,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = _ask("POST", f"{driver}/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"{driver}/session/{made['sessionId']}"

    def open(self, address: str, width: int = 1440, height: int = 900, *, dark: bool = False) -> None:
        """Show a page in a window of that size; what earlier pages said is forgotten."""
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.tell("Emulation.setEmulatedMedia", media="", features=scheme)
        self._post("url", url="about:blank")
        for kind in ("browser", "performance"):
            self._log(kind)
        self._post("url", url=address)

    def run(self, script: str, *arguments: object) -> Any:
        """What the body of a function returns in the page, given `arguments`."""
        return self._post("execute/sync", script=script, args=list(arguments))

    def wait(self, script: str) -> Any:
        """What the script returns as soon as that is something; it may begin on a page that another one replaces."""
        return until(lambda: self.run(script))

    def run_async(self, script: str, *arguments: object) -> Any:
        """What the script gives to the function that is its last argument, behind `arguments`."""
        return self._post("execute/async", script=script, args=list(arguments))

    def tell(self, command: str, **words: object) -> Any:
        """Ask of the browser itself, in the words of its protocol of development tools."""
        return self._post("goog/cdp/execute", cmd=command, params=words)

    def hover(self, selector: str) -> None:
        """Move the pointer to the middle of an element, which is brought into view."""
        script = """
            const box = document.querySelector(arguments[0]); box.scrollIntoView({ block: "center", inline: "center" });
            const told = arguments[1], place = () => {
              const r = box.getBoundingClientRect();
              told([r.x + r.width / 2, r.y + r.height / 2]);
            };
            requestAnimationFrame(() => requestAnimationFrame(place));
        """
        x, y = self.run_async(script, selector)
        self.tell("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """Press a key, such as Tab or ArrowRight."""
        for kind in ("keyDown", "keyUp"):
            self.tell("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def said(self) -> list[str]:
        """What was written to the console since the page was opened."""
        return [entry["message"] for entry in self._log("browser")]

    def asked(self) -> list[str]:
        """The addresses of all requests since the page was opened, its own the first."""
        messages = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def picture(self, path: Path) -> None:
        """Write the whole page as a PNG file."""
        size = self.run("const d = document.documentElement; return [d.clientWidth, d.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 8000), "scale": 1}
        made = self.tell("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(b64decode(made["data"]))

    def close(self) -> None:
        """End the browser."""
        _ask("DELETE", self._session, None)

    def _log(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._post("se/log", type=kind)
        return found

    def _post(self, what: str, **body: object) -> Any:
        return _ask("POST", f"{self._session}/{what}", body)


def until(found: Callable[[], Any]) -> Any:
    """The first answer that is something; the test fails when there is none in a minute."""
    end = time.monotonic() + _TIMEOUT_S
    while time.monotonic() < end:
        answer = found()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError("it did not happen")


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser, until the block ends."""
    require_tool("chromium", "chromedriver")
    user = tempfile.mkdtemp(prefix="lamina-browser-")
    with subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as driver:
        try:
            browser = Browser(_address(driver), user)
            try:
                yield browser
            finally:
                browser.close()
        finally:
            driver.terminate()
            shutil.rmtree(user, ignore_errors=True)


def _address(driver: subprocess.Popen[bytes]) -> str:
    assert driver.stdout is not None
    for line in driver.stdout:
        found = re.search(rb"started successfully on port (\d+)", line)
        if found:
            return f"http://127.0.0.1:{int(found[1])}"
    raise AssertionError("chromedriver ended")


def _ask(method: str, address: str, body: object) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(json.load(error)["value"]["message"]) from error
