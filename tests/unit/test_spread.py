"""What travels to a worker: pieces whose classes are those of a file that the user named."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

from codegen.errors import CompileError, PluginBroken
from codegen.python_files import run_python
from codegen.spread import _packed

TEXT = "class Piece:\n    size = 7\ndef work(piece):\n    return piece.size\n"
WORKER = "import pickle, sys; from codegen.spread import _worked; packed = pickle.load(sys.stdin.buffer); "
WORKER += "sys.stdout.buffer.write(pickle.dumps(_worked(*packed)))"


def refused(found: str) -> CompileError:
    return PluginBroken(found, where="ops.py")


def test_a_worker_runs_the_file_of_a_piece_before_it_reads_the_piece(tmp_path: Path) -> None:
    named, other = tmp_path / "ops.py", tmp_path / "other.py"
    for path in (named, other):
        path.write_text(TEXT, encoding="utf-8")
    module = run_python(named, "ops_of_a_user", refused)
    run_python(other, "ops_of_another", refused)
    packed = _packed(module.work, [module.Piece(), module.Piece()])
    assert packed[1] == {"ops_of_a_user": named}, "of two files the one that is needed"
    done = subprocess.run([sys.executable, "-c", WORKER], input=pickle.dumps(packed), capture_output=True, check=True)
    assert pickle.loads(done.stdout) == [7, 7]
