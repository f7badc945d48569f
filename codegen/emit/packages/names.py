"""Names that a network may have but in one ecosystem: words of its language or of the files written for it.

In the package's types and modules a name stands alone, where C has it as the begin of longer ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from codegen.errors import PackageUnfit

_PORTS = r"(in|out)put[0-9]+"
"""The types of ports beside the network's own."""
_RUST = """
    abstract arena as async await become box crate dyn false final fn impl in let loop macro match mod move mut
    override phantom_data priv pub ref result self send status std super test trait true try type unsafe unsized use
    virtual where yield
"""
"""But those of C, which no network is called."""
_TAKEN: Mapping[str, re.Pattern[str]] = {
    "cpp": re.compile(f"span|{_PORTS}"),
    "esp-idf": re.compile("."),
    "rust": re.compile("|".join([_PORTS, *_RUST.split()])),
}
"""Component names of ESP-IDF have two characters or more."""
_HINT = "compile with another --name, or leave it out of --package"


def check_name(package: str, name: str) -> None:
    """LAM-EMIT-008 for a network that cannot be called so in this package."""
    if package in _TAKEN and _TAKEN[package].fullmatch(name):
        raise PackageUnfit(f"a network cannot be called {name} there", where=package, hint=_HINT)
