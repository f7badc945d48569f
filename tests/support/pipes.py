"""A C program of many cases: each reads from standard input what it works on, and puts out what it makes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_PIPES = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *taken(size_t bytes)
{
    void *found = malloc(bytes);
    if (found == NULL) {
        exit(3);
    }
    return found;
}

static inline void *read_bytes(size_t bytes)
{
    void *found = taken(bytes);
    if (fread(found, 1, bytes, stdin) != bytes) {
        exit(4);
    }
    return found;
}

static inline uint8_t *copied(const uint8_t *from, size_t bytes)
{
    uint8_t *found = (uint8_t *)taken(bytes);
    memcpy(found, from, bytes);
    return found;
}

static inline void put(const void *data, size_t bytes)
{
    if (data == NULL || fwrite(data, 1, bytes, stdout) != bytes) {
        exit(5);
    }
}
"""
_MAIN = """#include "pipes.h"
{includes}

{bodies}
int main(void)
{{
{calls}
    return 0;
}}
"""


def write_main(folder: Path, headers: Sequence[str], bodies: Sequence[str], calls: Sequence[str]) -> Path:
    """The program of these functions, which may call `taken`, `read_bytes`, `copied`, `put`; a call is a statement."""
    (folder / "pipes.h").write_text(_PIPES)
    text = _MAIN.format(
        includes="\n".join(f'#include "{header}"' for header in headers),
        bodies="\n".join(bodies),
        calls="\n".join(f"    {call};" for call in calls),
    )
    (folder / "main.c").write_text(text)
    return folder / "main.c"
