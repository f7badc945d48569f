"""cpackget and cbuild: a pack unpacked, and a solution of its components built by gcc.

A project with a linker script is built for its device, another one for this machine.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

PACKS = Path("packs").absolute()
CPU = {"ARMCM4": ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")}


def main(argv: list[str]) -> int:
    name, *arguments = argv
    if name == "cpackget":
        assert arguments[0] == "add"
        return add(Path(arguments[1]))
    assert arguments[1:] == ["--packs"]
    return build(Path(arguments[0]))


def add(pack: Path) -> int:
    vendor, name, version = re.fullmatch(r"(\w+)\.(\w+)\.(\d+\.\d+\.\d+)\.pack", pack.name).groups()  # type: ignore[union-attr]
    with zipfile.ZipFile(pack) as archive:
        archive.extractall(PACKS / vendor / name / version)
    return 0


def values(path: Path, key: str) -> list[str]:
    """What stands behind a key of a YAML file, in its order."""
    return re.findall(rf"^ *- {key}: (.+)$", path.read_text(), re.MULTILINE)


def build(solution: Path) -> int:
    devices = re.findall(r"^ +device: (\w+)$", solution.read_text(), re.MULTILINE)
    (target,), (kind,) = values(solution, "type")[:1], values(solution, "type")[1:]
    for said in values(solution, "project"):
        project = solution.parent / said
        name = project.name.removesuffix(".cproject.yml")
        out = solution.parent / "out" / name / target / kind / f"{name}.elf"
        out.parent.mkdir(parents=True, exist_ok=True)
        scripts = [f"-T{project.parent / script}" for script in values(project, "script")]
        compiler = ["arm-none-eabi-gcc", *CPU[devices[0]], "-nostartfiles"] if scripts else ["gcc"]
        subprocess.check_call([*compiler, "-O2", *scripts, *inputs(solution, project), "-o", out])
    return 0


def inputs(solution: Path, project: Path) -> list[str]:
    """Sources of the project and of its components, and where headers are."""
    files = [project.parent / name for name in values(project, "file")]
    assert all(file.is_file() for file in files)
    found = [str(file) for file in files if file.suffix == ".c"]
    packs = [pack.split("::")[1] for pack in values(solution, "pack") if pack.startswith("lamina::")]
    for pack in packs:
        (description,) = PACKS.glob(f"lamina/{pack}/*/lamina.{pack}.pdsc")
        asked = [c.removeprefix("lamina::") for c in values(project, "component") if c.startswith("lamina::")]
        found += component_files(description, asked)
    return found


def component_files(description: Path, asked: Sequence[str]) -> list[str]:
    found: list[str] = []
    for component in ElementTree.parse(description).getroot().iter("component"):
        if ":".join(component.attrib.get(key, "") for key in ("Cclass", "Cgroup", "Csub")) not in asked:
            continue
        for file in component.iter("file"):
            path = str(description.parent / file.attrib["name"])
            found += {"sourceC": [path], "include": [f"-I{path}"]}.get(file.attrib["category"], [])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
