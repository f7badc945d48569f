"""A progress bar on standard error for work that takes longer than two seconds, on a terminal only."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

from codegen.cli.console import is_terminal

DELAY_S = 2.0


class Progress:
    """Use in a `with` statement; call it with the work done and all of it, or never when that is not known."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        """Nothing is shown before DELAY_S, without a terminal, or when quiet."""
        self._title = title
        self._bar: Any = None
        self._task: Any = None
        self._state: tuple[int, int | None] = (0, None)
        self._timer = threading.Timer(DELAY_S, self._show) if is_terminal() and not quiet else None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Start the clock."""
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, done: int, count: int | None = None) -> None:
        """Say how far the work is."""
        with self._lock:
            self._state = (done, count)
            if self._bar is not None:
                self._bar.update(self._task, completed=done, total=count)

    def _show(self) -> None:
        import rich.console
        import rich.progress

        with self._lock:
            if self._timer is None:
                return
            console = rich.console.Console(stderr=True)
            if console.is_dumb_terminal:
                return
            self._bar = rich.progress.Progress(console=console, transient=True)
            done, count = self._state
            self._task = self._bar.add_task(self._title, completed=done, total=count)
            self._bar.start()
