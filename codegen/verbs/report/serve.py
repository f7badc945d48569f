"""The report over HTTP, for this machine alone, made again whenever a file changes that it is made of.

Decides: that nobody but a browser on this machine is answered, by the loopback address and by the name that it asked
for; that a file is looked at again when it has stopped changing; and that what cannot be reported is told on the page.
"""

from __future__ import annotations

import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from codegen.errors import CompileError, InternalFault, PortTaken
from codegen.options import Options
from codegen.python_files import guarded
from codegen.records import record
from codegen.verbs.report.content import Looking, Report, looked_at
from codegen.verbs.report.page import page, refused_page
from codegen.verbs.sources import ModelSource, watched

ADDRESS = "127.0.0.1"
_LOOK_S = 0.25
"""Between two looks at the files."""
_WAIT_S = 25.0
"""How long a browser is kept waiting for another page at most."""

Stamp = tuple[tuple[int, int], ...]


@record(kw_only=True, eq=False)
class Serving:
    """What is looked at; the port, 0 for any; who is told the address; whether a browser is opened on it."""

    look: Looking
    port: int = 0
    ready: Callable[[str], None] | None = None
    browser: bool = True


def serve(model: ModelSource, targets: Sequence[str], options: Options, serving: Serving) -> None:
    """Serve the report until KeyboardInterrupt.

    Raises:
        PortTaken: LAM-API-014.
        CompileError: as of `report`, before anything is served; later refusals are told on the page.
    """
    look = replace(serving.look, out=None)
    following = _Following(lambda: looked_at(model, targets, options, look), look.against is not None)
    with _listening(serving.port, following) as server:
        following.make()
        files = tuple(_files(model, targets, look))
        threading.Thread(target=following.watch, args=(files,), daemon=True).start()
        address = f"http://{ADDRESS}:{server.server_port}/"
        if serving.ready is not None:
            serving.ready(address)
        if serving.browser:
            _open(address)
        server.serve_forever(poll_interval=_LOOK_S)


@dataclass(slots=True, eq=False)
class _Following:
    """The page as it is now; `changed` tells those who wait for another one."""

    look: Callable[[], Report]
    compared: bool
    version: int = 0
    text: bytes = b""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def make(self) -> None:
        """Make the page, or raise what is in the way."""
        self._take(page(self.look(), compared=self.compared, version=self.version + 1))

    def watch(self, files: Sequence[Path]) -> None:
        """Make it again whenever the files have changed and stay as they are for a moment."""
        known = seen = stamp(files)
        while True:
            time.sleep(_LOOK_S)
            before, seen = seen, stamp(files)
            if seen != known and seen == before:
                known = seen
                self._again()

    def after(self, version: str) -> int:
        """The version of the page once it is another one than that, or when waiting has been long enough."""
        with self.changed:
            self.changed.wait_for(lambda: str(self.version) != version, _WAIT_S)
            return self.version

    def _again(self) -> None:
        try:
            with guarded(InternalFault):  # told on the page, as a command tells it on its last line
                self.make()
        except CompileError as error:
            self._take(refused_page(error, self.version + 1))

    def _take(self, text: str) -> None:
        with self.changed:
            self.version, self.text = self.version + 1, text.encode()
            self.changed.notify_all()


class _Server(ThreadingHTTPServer):
    """A server of one page."""

    daemon_threads = True
    block_on_close = False
    following: _Following


class _Handler(BaseHTTPRequestHandler):
    """Answers `/` with the page, and `/changes?since=N` when that page is no longer number N."""

    server: _Server

    def do_GET(self) -> None:
        """Answer a browser of this machine."""
        asked = urlsplit(self.path)
        if self.headers.get("Host") not in {f"{name}:{self.server.server_port}" for name in (ADDRESS, "localhost")}:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif asked.path == "/":
            self._answer("text/html; charset=utf-8", self.server.following.text)
        elif asked.path == "/changes":
            since = parse_qs(asked.query).get("since", [""])[0]
            self._answer("text/plain", str(self.server.following.after(since)).encode())
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _answer(self, kind: str, data: bytes) -> None:
        try:
            self.send_response(HTTPStatus.OK)
            for name, said in (
                ("Content-Type", kind),
                ("Content-Length", str(len(data))),
                ("Cache-Control", "no-store"),
            ):
                self.send_header(name, said)
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # the browser has gone
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal is the command's."""


def _listening(port: int, following: _Following) -> _Server:
    try:
        server = _Server((ADDRESS, port), _Handler)
    except (OSError, OverflowError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise PortTaken(said, where=f"{ADDRESS}:{port}") from error
    server.following = following
    return server


def _files(model: ModelSource, targets: Sequence[str], look: Looking) -> Iterator[Path]:
    """What the report is made of, as far as that lies in files."""
    for given in (model, look.float_model, look.data, look.config, look.against, *targets):
        yield from watched(given)


def stamp(files: Sequence[Path]) -> Stamp:
    """When each file was last written, and its size; zeros for one that is not there."""
    return tuple(map(_stamp, files))


def _stamp(file: Path) -> tuple[int, int]:
    try:
        found = file.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _open(address: str) -> None:
    """Open a browser, unless the only one there is would take the terminal."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser:
        browser.open(address)
