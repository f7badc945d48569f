"""Starts other programs (compilers, emulators, size tools): the only place that does.

Decides: how long a program may run, how much it may write, and that nothing it started outlives a limit.
Leaves to the callers: which program, with which arguments, and what its answer means.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from codegen.errors import CompilerSilent, ToolFailed, ToolMissing, ToolOutputTooLong, ToolTimeout
from codegen.records import record

OUTPUT_LIMIT = 256 << 20
"""Bytes a program may write to each of its two outputs."""

_POLL_S = 0.1
_MARK = "LAMINA_STARTED"
"""The variable by which what a program started is known, wherever it went."""
_PROCESSES = Path("/proc")
_MOST_ROUNDS = 100


@record
class Completed:
    """How a program ended.  `returncode` is negative when a signal ended it."""

    returncode: int
    stdout: bytes
    stderr: bytes


def find_program(name: str) -> Path | None:
    """Where a program is, looked up on PATH; None when it is not installed."""
    found = shutil.which(name)
    return Path(os.path.abspath(found)) if found else None


def need_program(name: str, packages: Iterable[str] = ()) -> Path:
    """Where a program is; LAM-PROCESS-001 naming the Debian packages when it is not installed."""
    found = find_program(name)
    if found is None:
        raise ToolMissing(name, packages)
    return found


def run_program(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float,
    stdin: bytes = b"",
    output_limit: int = OUTPUT_LIMIT,
) -> Completed:
    """The program ran to its end, whatever its exit code.

    Args:
        argv: program and arguments; no shell looks at them.
        cwd: folder to run in, which exists.
        env: the whole environment; None is this process's own, with messages in English.
        timeout_s: seconds after which the program and all its children are killed (LAM-PROCESS-003).
        stdin: what it reads.
        output_limit: bytes it may write to either output before it is killed (LAM-PROCESS-004).
    """
    program = Path(argv[0]).name
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        mark = uuid.uuid4().hex
        process = _start(argv, cwd, env, mark, (given if stdin else subprocess.DEVNULL, out, err))
        try:
            returncode = _wait(process, program, (out, err), timeout_s, output_limit)
        finally:
            _kill_all(process, mark)
        return Completed(returncode, _content(out), _content(err))


def check_program(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float,
    stdin: bytes = b"",
    writes: Path | None = None,
) -> Completed:
    """The program ran and ended with exit code 0; LAM-PROCESS-002 with its last words otherwise.

    `writes`: a compiler's output, which is there then; LAM-HOST-010 when it is not.
    """
    done = run_program(argv, cwd=cwd, env=env, timeout_s=timeout_s, stdin=stdin)
    if done.returncode != 0:
        raise ToolFailed(Path(argv[0]).name, done.returncode, done.stderr)
    if writes is not None and not (writes.is_file() and writes.stat().st_size):
        raise CompilerSilent(f"ended with exit code 0, and there is no {writes.name}", where=str(argv[0]))
    return done


def _start(
    argv: Sequence[str | Path],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    mark: str,
    streams: tuple[IO[bytes] | int, IO[bytes], IO[bytes]],
) -> subprocess.Popen[bytes]:
    assert cwd is None or cwd.is_dir(), cwd
    environment = {**(os.environ if env is None else env), _MARK: mark}
    if env is None:
        environment["LC_ALL"] = "C"
    stdin, stdout, stderr = streams
    try:
        return subprocess.Popen(
            [str(a) for a in argv],
            cwd=cwd,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolMissing(str(argv[0]), found=f"cannot be started: {error.strerror}") from error


def _wait(
    process: subprocess.Popen[bytes], program: str, outputs: Iterable[IO[bytes]], timeout_s: float, limit: int
) -> int:
    """Wait in short steps, so that a program which writes without end is seen before the disk is full."""
    outputs = tuple(outputs)
    end = time.monotonic() + timeout_s
    while True:
        left = end - time.monotonic()
        try:
            returncode = process.wait(max(0.0, min(left, _POLL_S)))
        except subprocess.TimeoutExpired:
            returncode = None
        if any(os.fstat(o.fileno()).st_size > limit for o in outputs):
            raise ToolOutputTooLong(program, limit)
        if returncode is not None:
            return returncode
        if left <= 0:
            raise ToolTimeout(program, timeout_s)


def _kill_all(process: subprocess.Popen[bytes], mark: str) -> None:
    """Nothing of the program is left running; harmless when it has ended.

    Its process group, and on Linux every process whose environment has the mark: one that left the group by a session
    of its own keeps what it inherited.
    """
    if process.returncode is not None:
        return
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    for _ in range(_MOST_ROUNDS):  # until none was started meanwhile
        found = _marked(mark)
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _marked(mark: str) -> list[int]:
    """Processes with the mark in their environment; none where the system does not show environments."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for folder in _PROCESSES.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
