"""Flags of the compilers' sanitizers."""

TRAPS = "-fsanitize=undefined,alignment -fsanitize-undefined-trap-on-error"
"""Undefined behaviour ends the program at once, without a message.

Half of what calls with the place of each check cost a compiler at `-O0`; REPORTS, in place of it, tells the line.
"""
REPORTS = "-fsanitize=undefined,alignment -fno-sanitize-recover=all"
"""Undefined behaviour ends the program with its line in the source."""
GCC_REPORTS = f"-fno-tree-pta {REPORTS}"
"""The same for gcc, whose analysis of what pointers point to takes a minute for a function of vectors with checks."""
