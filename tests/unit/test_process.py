from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from codegen.errors import ToolFailed, ToolMissing, ToolOutputTooLong, ToolTimeout
from codegen.process import check_program, find_program, need_program, run_program
from tests.support.tools import require_tool

NO_SUCH_PROGRAM = "lamina-no-such-program"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_and_exit_code_come_back_as_bytes() -> None:
    done = run_program(
        python("import sys; sys.stdout.buffer.write(b'\\xff\\n'); sys.stderr.write('hm'); sys.exit(3)"), timeout_s=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, b"\xff\n", b"hm")


def test_stdin_is_delivered_whole_when_larger_than_a_pipe() -> None:
    data = bytes(range(256)) * 4096
    done = run_program(python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"), timeout_s=30, stdin=data)
    assert done.stdout == data


def test_stdin_is_empty_unless_given() -> None:
    assert run_program(python("import sys; print(len(sys.stdin.read()))"), timeout_s=30).stdout == b"0\n"


def test_runs_in_the_folder_and_environment_given(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd()); print(os.environ.get('LAM_X'), 'HOME' in os.environ)"
    done = run_program(python(code), cwd=tmp_path, env={"LAM_X": "7"}, timeout_s=30)
    assert done.stdout.decode().splitlines() == [str(tmp_path.resolve()), "7 False"]


def test_messages_of_programs_are_in_english_by_default() -> None:
    assert run_program(python("import os; print(os.environ['LC_ALL'])"), timeout_s=30).stdout == b"C\n"


def test_timeout_kills_the_program_and_its_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child = "import time; time.sleep(60)"
    parent = (
        "import subprocess, sys, pathlib, time\n"
        f"p = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(p.pid))\n"
        "time.sleep(60)\n"
    )
    with pytest.raises(ToolTimeout, match=r"LAM-PROCESS-003 .*still running after 3 s"):
        run_program(python(parent), timeout_s=3)
    assert is_gone(int(pid_file.read_text()))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not show environments")
def test_timeout_kills_grandchildren_in_sessions_of_their_own(tmp_path: Path) -> None:
    waits = "import time; time.sleep(60)"
    leaves = (
        "import os, pathlib, subprocess, sys, time\n"
        "if os.fork():\n"
        "    os._exit(0)\n"  # its parent is gone, so no chain of parents leads to it
        "os.setsid()\n"
        f"p = subprocess.Popen([sys.executable, '-c', {waits!r}], start_new_session=True)\n"
        f"pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch()\n"
        f"pathlib.Path({str(tmp_path)!r}, str(p.pid)).touch()\n"
        "time.sleep(60)\n"
    )
    starts = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {leaves!r}], start_new_session=True).wait()\n"
        "time.sleep(60)\n"
    )
    with pytest.raises(ToolTimeout):
        run_program(python(starts), timeout_s=3)
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) == 2
    assert all(is_gone(pid) for pid in pids)


def test_what_a_program_that_ended_leaves_running_is_its_own_affair(tmp_path: Path) -> None:
    waits = "import time; time.sleep(60)"
    starts = (
        "import pathlib, subprocess, sys\n"
        f"p = subprocess.Popen([sys.executable, '-c', {waits!r}], start_new_session=True)\n"
        f"pathlib.Path({str(tmp_path)!r}, str(p.pid)).touch()\n"
    )
    assert run_program(python(starts), timeout_s=30).returncode == 0
    (pid,) = (int(path.name) for path in tmp_path.iterdir())
    os.kill(pid, signal.SIGKILL)  # fails where it is not running


def is_gone(pid: int) -> bool:
    """Whether the process has ended; it may take a moment until it is reaped by its new parent."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_program_that_prints_without_end_is_stopped() -> None:
    with pytest.raises(ToolOutputTooLong, match="LAM-PROCESS-004"):
        run_program(python("while True: print('x' * 1000)"), timeout_s=60, output_limit=1_000_000)


def test_too_much_output_is_refused_even_when_the_program_has_ended() -> None:
    with pytest.raises(ToolOutputTooLong):
        run_program(python("print('x' * 2000)"), timeout_s=30, output_limit=1000)


def test_a_failure_keeps_the_exit_code_and_the_last_lines() -> None:
    code = "import sys; sys.stderr.write(''.join(f'line {i}\\n' for i in range(100))); sys.exit(4)"
    with pytest.raises(ToolFailed) as caught:
        check_program(python(code), timeout_s=30)
    text = str(caught.value)
    assert text.startswith("LAM-PROCESS-002")
    assert "exit code 4" in text
    assert text.endswith("line 99")
    assert "line 79" not in text


def test_a_failure_by_signal_says_so() -> None:
    with pytest.raises(ToolFailed, match="ended by signal 9"):
        check_program(python("import os; os.kill(os.getpid(), 9)"), timeout_s=30)


def test_success_passes_the_check() -> None:
    assert check_program(python("print(1)"), timeout_s=30).stdout == b"1\n"


def test_a_missing_program_names_its_packages() -> None:
    assert find_program(NO_SUCH_PROGRAM) is None
    with pytest.raises(ToolMissing, match=r"LAM-PROCESS-001 lamina-no-such-program: .*apt-get install pack-a pack-b"):
        need_program(NO_SUCH_PROGRAM, ("pack-a", "pack-b"))


def test_a_program_that_cannot_be_started_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match="LAM-PROCESS-001"):
        run_program([NO_SUCH_PROGRAM], timeout_s=30)
    not_a_program = tmp_path / "data"
    not_a_program.write_bytes(b"\0\1\2")
    not_a_program.chmod(0o755)
    with pytest.raises(ToolMissing, match="cannot be started"):
        run_program([not_a_program], timeout_s=30)


def test_a_program_is_found_where_it_is() -> None:
    assert need_program(sys.executable) == Path(sys.executable)


def test_a_test_without_its_tool_is_skipped_but_fails_under_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    require_tool(sys.executable)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=NO_SUCH_PROGRAM):
        require_tool(sys.executable, NO_SUCH_PROGRAM)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=NO_SUCH_PROGRAM):
        require_tool(NO_SUCH_PROGRAM)
