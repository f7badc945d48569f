"""Instructions of one inference on this machine, counted one by one (stepped_board.c): x86-64 and Linux only."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import codegen
from codegen.host import compiler_words, host_flags
from codegen.resources import resource_dir

HERE = Path(__file__).parent


def counted(model: bytes, target: str = "host") -> tuple[int, int]:
    """Bytes of weights and instructions, after one inference that warms up; some hundred thousand take a second."""
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        project = codegen.compile_model(model, target, Path(folder) / "project", name="net")
        (x,) = project.manifest["inputs"]
        return project.manifest["weights_bytes"], _steps(Path(folder) / "project", x["bytes"])


def _steps(project: Path, input_bytes: int) -> int:
    runtime, program = resource_dir("runtime_c"), project.parent / "stepped"
    boards = runtime / "boards"
    defines = {
        "LAM_HOST_NAME": "net",
        "LAM_HOST_UPPER": "NET",
        "LAM_HOST_HEADER": '"net.h"',
        "LAM_PROFILE_LAYERS": "0",
        "LAM_PROFILE_REPEATS": "1",
        "LAM_PROFILE_MASK": "0xff",
        "LAM_PROFILE_INPUT_BYTES": str(input_bytes),
    }
    argv: list[str | Path] = [
        *compiler_words(),
        *("-std=c99", *host_flags(None), "-static"),
        *(f"-D{name}={value}" for name, value in defines.items()),
        *(f"-I{project / part}" for part in ("include", "runtime", "src")),
        *(f"-I{part}" for part in (boards, runtime / "host")),
        *sorted((project / "src").glob("*.c")),
        *(runtime / "host" / "lam_profile_main.c", boards / "unknown_stack.c", boards / "common.c"),
        *(HERE / "stepped_board.c", "-o", program),
    ]
    subprocess.run(argv, check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    (total,) = (line.split() for line in said.splitlines() if line.startswith("total"))
    return int(total[1]) << 32 | int(total[2])
