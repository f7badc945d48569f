"""Templates that are compiled already: kept beside their sources as Python keeps its own modules.

Decides: that `__pycache__/NAME.pyc` lies in the template's own folder (or where `sys.pycache_prefix` says), so that
whoever can change what is kept can change the template; that it is good for one source, one Jinja and one set of
options; and that what cannot be written or read is compiled anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import marshal
import os
import sys
from pathlib import Path
from types import CodeType

import jinja2
from jinja2.bccache import Bucket

from codegen.resources import VERSION


class KeptBeside(jinja2.BytecodeCache):
    """The compiled form of each template, in a file of its own."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The file of a template's compiled form; none for one without a file."""
        return importlib.util.cache_from_source(filename) if filename else ""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is kept, where it is of this source."""
        if bucket.key:
            with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
                bucket.code = _read(Path(bucket.key), _head(bucket))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it, whole or not at all."""
        if bucket.key and bucket.code is not None and not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                _write(Path(bucket.key), _head(bucket) + marshal.dumps(bucket.code))


def _head(bucket: Bucket) -> bytes:
    """How the file begins: for which Python, Jinja, options and source it is good."""
    environment = bucket.environment
    options = (
        environment.trim_blocks,
        environment.lstrip_blocks,
        environment.optimized,
        environment.undefined.__name__,
    )
    known = repr((VERSION, jinja2.__version__, options, bucket.checksum))
    return importlib.util.MAGIC_NUMBER + hashlib.sha256(known.encode()).digest()


def _read(path: Path, head: bytes) -> CodeType | None:
    """The code behind a head; None behind another one."""
    data = path.read_bytes()
    found = marshal.loads(data[len(head) :]) if data.startswith(head) else None
    return found if isinstance(found, CodeType) else None


def _write(path: Path, data: bytes) -> None:
    """A file that nobody sees half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with open(part, "xb") as file:
        file.write(data)
    os.replace(part, path)
