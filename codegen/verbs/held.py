"""What an engine holds while it runs, for a `with` statement."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Held:
    """Closed at the end of a `with` statement; by itself it holds nothing."""

    def close(self) -> None:
        """Nothing is held."""

    def __enter__(self) -> Self:
        """For use in a `with` statement."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()
