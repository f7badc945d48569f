"""Options as the words of a command line, for the commands that a page tells.

Decides: that what has its default is not said.  Labels are a file there, which nobody kept, and are left out, as is the
count of a self-test's samples, which no command takes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import fields

from codegen.options import Options

_OTHERWISE = {"float_sums": "--float", "pinned": "--pin", "mapped": "--map", "shapes": "--shape"}
_UNSAID = ("target", "labels", "vectors")


def spelled(options: Options, besides: Sequence[str] = ()) -> tuple[str, ...]:
    """The words of `options` but for the target, each quoted for a shell; none that `besides` says otherwise."""
    words: list[str] = []
    for field in fields(Options):
        flag = _OTHERWISE.get(field.name, f"--{field.name.replace('_', '-')}")
        value = getattr(options, field.name)
        if value != field.default and field.name not in _UNSAID and flag not in besides:
            words += _words(flag, value)
    return (*words, *besides)


def _words(flag: str, value: object) -> Iterator[str]:
    if value is True:
        yield flag
    elif flag == "--package":
        assert isinstance(value, tuple)
        yield from (flag, ",".join(value))
    elif isinstance(value, tuple):
        for one in value:
            yield from (flag, shlex.quote(one if isinstance(one, str) else f"{one[0]}={','.join(map(str, one[1]))}"))
    else:
        yield from (flag, shlex.quote(f"{value:g}" if isinstance(value, float) else f"{value}"))
