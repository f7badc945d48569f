"""Independent pieces of work: done by this process one after another, or by the workers of a Dask cluster.

Decides: how a cluster is named, how many pieces travel at once, that what comes back stands in the order of the pieces
whoever made it, and that a refusal of a piece is raised as if it had been made here.  A worker that dies loses nothing:
its pieces go to another one.  A worker runs the user's Python files whose classes a piece has.  The package
`distributed` is imported here alone, and only where a cluster is named.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

from codegen.errors import ClusterLost, ExtraMissing, SchedulerBad, first_line
from codegen.python_files import FILES_RUN, run_python
from codegen.records import record

_Piece = TypeVar("_Piece")
_Made = TypeVar("_Made")
Told = Callable[[int], None]
"""Called with the number of pieces done."""
_TURNS = 4
"""Shares that a worker gets in all: few enough to be worth a journey, enough that none waits long for a slow one."""
_LOCAL = re.compile(r"local(?::([0-9]{1,4}))?")
_ADDRESS = re.compile(r"tcp://[^/\s]+:[0-9]{1,5}")
_WAIT_S = "10s"
_ONE_THREAD = {"OMP_NUM_THREADS": 1, "MKL_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1}
"""What a worker's process begins with: workers share the cores."""


class Spread(Protocol):
    """Whoever does independent pieces of work."""

    @property
    def width(self) -> int:
        """How many pieces are worked on at once."""
        ...

    def each(self, work: Callable[[_Piece], _Made], pieces: Sequence[_Piece], told: Told | None = None) -> list[_Made]:
        """What `work` makes of each piece, in their order; the first refusal that is met is raised."""
        ...


class _Here:
    """This process, one piece after another."""

    width = 1

    def each(self, work: Callable[[_Piece], _Made], pieces: Sequence[_Piece], told: Told | None = None) -> list[_Made]:
        made = []
        for done, piece in enumerate(pieces, 1):
            made.append(work(piece))
            if told is not None:
                told(done)
        return made


HERE: Spread = _Here()
"""This process, one piece after another."""


@record
class _Cluster:
    """The workers that a client of `distributed` knows."""

    client: Any

    @property
    def width(self) -> int:
        threads: Mapping[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def each(self, work: Callable[[_Piece], _Made], pieces: Sequence[_Piece], told: Told | None = None) -> list[_Made]:
        from distributed import as_completed

        shares = _shares(len(pieces), self.width * _TURNS)
        futures = [self.client.submit(_worked, *_packed(work, pieces[s.start : s.stop]), pure=False) for s in shares]
        made: dict[Any, list[_Made]] = {}
        try:
            for future in as_completed(futures, loop=self.client.loop):
                made[future.key] = self._result(future)
                if told is not None:
                    told(sum(map(len, made.values())))
        finally:
            self.client.cancel([f for f in futures if f.key not in made])
        return [one for future in futures for one in made[future.key]]

    def _result(self, future: Any) -> Any:
        """What a share made; its refusal, or LAM-CLUSTER-002 where workers died of it again and again."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            return future.result()
        except (KilledWorker, FutureCancelledError, OSError) as error:
            raise ClusterLost(first_line(error), where=self.client.scheduler.address) from None


def _packed(work: Callable[[_Piece], _Made], pieces: Sequence[_Piece]) -> tuple[bytes, Mapping[str, Path]]:
    """One share as bytes, and the user's files whose classes are in it."""
    from distributed.protocol.pickle import dumps

    packed: bytes = dumps((work, pieces))
    return packed, {name: path for name, path in FILES_RUN.items() if name.encode() in packed}


def _worked(packed: bytes, files: Mapping[str, Path]) -> list[Any]:
    """One share, on a worker, which runs the user's files before it reads the share."""
    from distributed.protocol.pickle import loads

    def refused(found: str) -> ClusterLost:
        return ClusterLost(found, where=", ".join(map(str, files.values())))

    for name in files.keys() - FILES_RUN.keys():
        run_python(files[name], name, refused)
    work, pieces = loads(packed)
    return [work(piece) for piece in pieces]


def _shares(count: int, most: int) -> list[range]:
    """The places of `count` pieces in at most `most` runs of about one length."""
    number = min(count, most)
    ends = [count * k // number for k in range(number + 1)] if number else [0]
    return [range(a, b) for a, b in pairwise(ends)]


def ranges_of(count: int, spread: Spread) -> list[range]:
    """`count` things as runs that are worth handing out; one run where nobody shares the work."""
    return _shares(count, 1 if spread.width == 1 else spread.width * _TURNS)


def kept(key: str, make: Callable[[], _Made]) -> _Made:
    """What this process keeps between the pieces of one job, made for the first of them; the job before is closed."""
    if key not in _KEPT:
        for former in list(_KEPT):
            close = getattr(_KEPT.pop(former), "close", None)
            if close is not None:
                close()
        _KEPT[key] = make()
    found: _Made = _KEPT[key]
    return found


_KEPT: dict[str, Any] = {}
"""By the name of the job: one at most."""


@contextmanager
def spread_over(scheduler: str | None) -> Iterator[Spread]:
    """Whoever `scheduler` names: None for this process, `local` or `local:N`, or the address of a Dask scheduler.

    Raises:
        SchedulerBad: LAM-CLUSTER-001 for a name of nothing.
        ExtraMissing: LAM-API-002 where the package is not installed.
        ClusterLost: LAM-CLUSTER-002 for a scheduler that does not answer, or whose workers are gone.
    """
    if scheduler is None:
        yield HERE
        return
    local, remote = _LOCAL.fullmatch(scheduler), _ADDRESS.fullmatch(scheduler)
    if not local and not remote:
        raise SchedulerBad(f"{scheduler!r}", where="scheduler")
    workers = int(local[1] or os.cpu_count() or 1) if local else 0
    if local and not workers:
        raise SchedulerBad("no worker", where="scheduler")
    client = _client(scheduler, workers)
    try:
        yield _Cluster(client)
    finally:
        client.close()
        if client.cluster is not None:
            client.cluster.close()


def _client(scheduler: str, workers: int) -> Any:
    """A client of the scheduler, or of a cluster of so many workers that is started for it."""
    try:
        from distributed import Client
    except ImportError:
        raise ExtraMissing("distributed", "dask", "it hands work to other processes and machines") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if not workers:
        try:
            return Client(scheduler, timeout=_WAIT_S, set_as_default=False)
        except OSError as error:
            raise ClusterLost(first_line(error), where=scheduler) from None
    return Client(local_cluster(workers), set_as_default=False)


def local_cluster(workers: int) -> Any:
    """A `distributed.LocalCluster` of so many processes, each of one thread.

    Dask's own workers give every freed array back to the system, and fetch each new one page by page: of two that run
    networks at once either takes three times as long.  These keep what they have, as any process does.
    """
    import dask
    from distributed import LocalCluster

    with dask.config.set({"distributed.nanny.pre-spawn-environ": _ONE_THREAD}):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        )
