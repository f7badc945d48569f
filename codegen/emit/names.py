"""C identifiers.  Everything a network exports starts with its name, so that two networks link into one image."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_C_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    main lam
"""
_HEADERS = """
    aio alloca assert byteswap complex ctype dirent dlfcn elf endian err errno error fcntl features fenv float
    fnmatch ftw getopt glob grp iconv inttypes iso646 langinfo libgen limits link locale malloc math memory mqueue
    netdb paths poll pthread pwd regex resolv sched search semaphore setjmp sgtty shadow signal spawn stdalign
    stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings sysexits syslog tar termio
    termios tgmath thread threads time uchar ucontext ulimit unistd utime utmp utmpx values version wait wchar
    wctype wordexp
"""
"""Headers that C and POSIX have: a project has include/NAME.h."""
_TYPES = """
    blkcnt blksize caddr cc char8 char16 char32 clock clockid cnd daddr dev div double err error fenv fexcept float fpos
    fsblkcnt fsfilcnt fsid gid glob greg iconv id imaxdiv in_addr in_port ino intmax intptr key ldiv lldiv loff locale
    max_align mbstate mcontext mode mqd mtx nfds nlink nullptr off off64 once pid ptrdiff quad regex regmatch regoff
    register rlim sa_family sem siginfo sigset size socklen speed ssize stack suseconds tcflag thrd time timer tss
    ucontext uid uintmax uintptr useconds wchar wctrans wctype wint wordexp
"""
"""Types NAME_t that C, POSIX and common libraries have; int8_t and its like are matched by a pattern."""
_RESERVED = frozenset((_C_WORDS + _HEADERS + _TYPES).split())
_INTEGER_TYPE = re.compile(r"u?_?int(_fast|_least)?[0-9]+")
_LONGEST = 31
_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}")
_FOREIGN = re.compile(r"[^A-Za-z0-9 _.,:;/()\[\]{}<>=+\-#%&@~^!]+")
PORT_MACROS = ("TYPE", "DIMS", "SHAPE", "BYTES", "ROWS", "ROW_BYTES", "SCALE", "ZERO_POINT")
"""What macros say of a port, each behind its name."""
_PLAIN = frozenset(string.ascii_letters + string.digits + " _.,:;/()[]{}<>=+-#%&@~^!|'")
_LONGEST_STRING = 1000
"""Bytes of a string literal; with four signs for each it is within the 4095 of C99 5.2.4.1."""
_LONGEST_COMMENT = 2000
"""A line of C may have 4095 characters (C99 5.2.4.1)."""


def network_name(raw: str) -> str:
    """A C identifier for a network, from any text: lower case, letters, digits and single underscores.

    NAME.h and NAME_t must not be a header or a type that C or POSIX has; such a name gets the prefix `net_`.
    """
    name = re.sub(r"[^0-9a-z]+", "_", raw.lower()).strip("_")[:_LONGEST].strip("_")
    if not name or name[0].isdigit() or name.startswith("lam_") or name in _RESERVED or _INTEGER_TYPE.fullmatch(name):
        name = f"net_{name}"[:_LONGEST].rstrip("_")
    return name


def package_version(said: str) -> str:
    """The version of a package: what was said where that is three numbers, as 1.4.0, else 1.0.0."""
    return said if _VERSION.fullmatch(said) else "1.0.0"


def port_symbols(names: Sequence[str]) -> tuple[str, ...]:
    """What each port is called in macros, KWS_INPUT_AUDIO for `audio`: capitals, digits, underscores; never twice.

    Where two names become the same, or one becomes another's macro (`x` and `x_bytes`), all of them get their index.
    """
    words = [re.sub(r"[^0-9A-Z]+", "_", name.upper()).strip("_")[:_LONGEST].strip("_") or "PORT" for name in names]
    taken = Counter(word + ending for word in words for ending in ("", *(f"_{part}" for part in PORT_MACROS)))
    clashes = [any(taken[word + ending] > 1 for ending in ("", *(f"_{p}" for p in PORT_MACROS))) for word in words]
    return tuple(f"{word}_{i}" if clash else word for i, (word, clash) in enumerate(zip(words, clashes, strict=True)))


def c_string(text: str) -> str:
    """A string literal of C that holds the text in UTF-8, exactly; what is longer than C99 allows loses its middle.

    All but plain signs are three octal digits, so that no quote, escape, trigraph or line end is left.
    """
    data = text.encode("utf-8", errors="replace")
    half = _LONGEST_STRING // 2
    shown = data if len(data) <= _LONGEST_STRING else data[:half] + b" ... " + data[-half:]
    return '"' + "".join(chr(b) if chr(b) in _PLAIN else f"\\{b:03o}" for b in shown) + '"'


def comment(text: str) -> str:
    """Text of a model that means nothing where it is put: in a comment of C or CMake, in a code span of a README.

    Only letters, digits and the signs of _FOREIGN stay; a run of anything else becomes one `?`, so that no end of a
    comment, line splice, trigraph, backtick, cell border or control character is left, whatever stands beside it.
    """
    shown = _FOREIGN.sub("?", text).strip() or "?"
    half = _LONGEST_COMMENT // 2
    return shown if len(shown) <= _LONGEST_COMMENT else f"{shown[:half]} ... {shown[-half:]}"
