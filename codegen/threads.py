"""Parts of one piece of work, on the threads of this process.

Decides: how many there are, and that nobody sees it in a result: what a part makes is its own, and stands in the order
of the parts.  Threads serve where numpy, a runtime or another program works outside of the interpreter; work that is
split once is not split again.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

_Piece = TypeVar("_Piece")
_Made = TypeVar("_Made")
_Other = TypeVar("_Other")
_SPLIT = contextvars.ContextVar("_SPLIT", default=False)
"""Whether a part is being worked on here."""
_LIMIT = "OMP_NUM_THREADS"
_MOST = 2


@cache
def width() -> int:
    """Threads that work at once: two where this process may use as many processors, and $OMP_NUM_THREADS allows it.

    What parts need of memory is counted for two of them.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get(_LIMIT, "")
    return min(_MOST, allowed, int(asked) if asked.isdecimal() and int(asked) else _MOST)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(width(), "lamina")


def _forget() -> None:
    """A process that was forked has none of the threads."""
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def each(work: Callable[[_Piece], _Made], pieces: Sequence[_Piece]) -> list[_Made]:
    """What `work` makes of each piece, in their order; of several refusals that of the first piece is raised."""
    if len(pieces) < 2 or width() < 2 or _SPLIT.get():
        return [work(piece) for piece in pieces]
    futures = [_begun(work, piece) for piece in pieces]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            _ended(future)


def both(beside: Callable[[], _Made], here: Callable[[], _Other]) -> tuple[_Made, _Other]:
    """What two pieces of work make: one on another thread, while this one, which may split it, does the other.

    Of two refusals the first piece's is raised, whichever comes first.
    """
    if width() < 2 or _SPLIT.get():
        return beside(), here()
    coming = _begun(lambda work: work(), beside)
    try:
        made = here()
        return coming.result(), made
    except Exception:
        first = coming.exception()
        if first is not None:
            raise first from None
        raise
    finally:
        _ended(coming)


def over(work: Callable[[range], None], count: int) -> None:
    """`work` done for the numbers from 0 to `count`, in one run of them for each thread."""
    number = min(count, width())
    ends = [count * k // number for k in range(number + 1)] if number else [0]
    each(work, [range(a, b) for a, b in pairwise(ends)])


def ahead(work: Callable[[int], _Made], count: int) -> Generator[_Made, None, None]:
    """What `work` makes of the numbers from 0 to `count`: the next while the one before is looked at."""
    if width() < 2 or _SPLIT.get():
        yield from map(work, range(count))
        return
    coming = _begun(work, 0) if count else None
    try:
        for index in range(count):
            assert coming is not None
            made = coming.result()
            coming = _begun(work, index + 1) if index + 1 < count else None
            yield made
    finally:
        if coming is not None:
            _ended(coming)


def _begun(work: Callable[[_Piece], _Made], piece: _Piece) -> Future[_Made]:
    """A piece that another thread works on, as this one would."""
    return _pool().submit(contextvars.copy_context().run, _alone, work, piece)


def _alone(work: Callable[[_Piece], _Made], piece: _Piece) -> _Made:
    _SPLIT.set(True)
    return work(piece)


def _ended(future: Future[_Made]) -> None:
    """Nothing is left running behind a refusal."""
    if not future.cancel():
        future.exception()
