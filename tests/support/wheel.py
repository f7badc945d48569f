"""The package as it is published: built and installed once in a session, whichever worker asks first."""

from __future__ import annotations

import fcntl
import os
import site
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.process import check_program
from tests.support.shared import ROOT

SITE = "https://docs.example.org/lamina"
"""What the package is told to be its documentation's address."""


def sdist(factory: pytest.TempPathFactory) -> Path:
    """The source archive of the checkout."""
    return next(_once(factory, "sdist", lambda out: build(ROOT, out, "sdist")).glob("*.tar.gz"))


def wheel(factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the unpacked source archive and not from the checkout."""
    source = sdist(factory)

    def make(out: Path) -> None:
        with tarfile.open(source) as archive:
            safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not before Python 3.11.4
            archive.extractall(out, **safely)  # type: ignore[arg-type]
        build(next(p for p in out.iterdir() if p.is_dir()), out / "dist", "wheel")

    return next((_once(factory, "wheel", make) / "dist").glob("*.whl"))


def installed(factory: pytest.TempPathFactory) -> Path:
    """Programs of a fresh environment with the wheel; dependencies are this environment's, through a .pth file."""
    package = wheel(factory)

    def make(out: Path) -> None:
        check_program([sys.executable, "-m", "venv", "--without-pip", out], timeout_s=120)
        pip = [sys.executable, "-m", "pip", "--python", out / "bin" / "python", "install"]
        check_program([*pip, "--no-deps", "--no-index", "-q", "--disable-pip-version-check", package], timeout_s=120)
        home = out / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
        (home / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")

    return _once(factory, "env", make) / "bin"


def build(source: Path, out: Path, what: str, site_address: str = SITE) -> None:
    """Build an `sdist` or a `wheel`."""
    argv = [sys.executable, "-m", "build", "--no-isolation", f"--{what}", "--outdir", str(out), str(source)]
    check_program(argv, cwd=out.parent, env={**os.environ, "LAMINA_SITE": site_address}, timeout_s=120)


def _once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder of that name, made by the first who asks; workers of one session share it."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = base / name, base / f"{name}.done"
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
