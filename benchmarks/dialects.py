"""Which of the generated ONNX files of many exporters are read, and what refuses the others, in groups.

`python benchmarks/dialects.py [--requant MODE] [--json] [FILES ...]`; the files are those of ../shared/models/dialects
unless some are given.  A file that has several problems is counted in each one's group.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.errors import CompileError  # noqa: E402
from codegen.frontends import import_model  # noqa: E402
from codegen.ir.quant import MODES, Mode  # noqa: E402

FOLDER = ROOT.parent / "shared" / "models" / "dialects"
_QUOTED = re.compile(r"'[^']*'")
_NUMBER = re.compile(r"(?<![\w-])-?\d+(\.\d+)?(e-?\d+)?")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the groups, the largest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--requant", choices=MODES, default="single")
    parser.add_argument("--json", action="store_true", help="every file with its problems")
    chosen = parser.parse_args(arguments)
    found = problems(chosen.files or sorted(FOLDER.glob("*.onnx")), chosen.requant)
    print(json.dumps(found, indent=1) if chosen.json else _text(found))


def problems(files: Sequence[Path], mode: Mode) -> dict[str, list[str]]:
    """Each file's problems, as the user reads them; none for a file that is read."""
    found: dict[str, list[str]] = {}
    for file in files:
        try:
            import_model(file, mode=mode, io_type="quantized", io_layout="nhwc")
            found[file.stem] = []
        except CompileError as error:
            found[file.stem] = [problem.text() for problem in error.problems()]
    return found


def groups(found: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Files by problem, names and numbers left out."""
    grouped: dict[str, list[str]] = {}
    for name, texts in found.items():
        for key in dict.fromkeys(_kind(text) for text in texts):
            grouped.setdefault(key, []).append(name)
    return dict(sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0])))


def _kind(text: str) -> str:
    code, _, rest = _QUOTED.sub("'..'", text).partition(" ")
    return f"{code} {_NUMBER.sub('N', rest)}"


def _text(found: Mapping[str, Sequence[str]]) -> str:
    lines = []
    for kind, names in groups(found).items():
        alone = sum(len({_kind(text) for text in found[name]}) == 1 for name in names)
        shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
        lines += [f"{len(names):4} files, {alone} of them for this alone: {kind[:200]}", f"       {shown}"]
    read = sum(not texts for texts in found.values())
    return "\n".join([*lines, f"{read} of {len(found)} files are read, {len(found) - read} refused"])


if __name__ == "__main__":
    main()
