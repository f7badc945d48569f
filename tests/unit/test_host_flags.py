"""How C is optimised that this machine runs itself."""

from __future__ import annotations

import pytest

from codegen.host import host_flags


def test_the_environment_says_how_c_is_optimised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFLAGS", "-O2 -DNAME='two words'")
    assert host_flags() == ("-O2", "-DNAME=two words")
    assert host_flags("-Os") == ("-Os", "-DNAME=two words")


@pytest.mark.parametrize("said", ["", " "])
def test_flags_that_say_nothing_are_those_of_a_fast_build(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFLAGS", said)
    assert host_flags()[0] == "-O3"
    monkeypatch.delenv("CFLAGS")
    assert host_flags()[0] == "-O3"
    assert host_flags("-O1")[0] == "-O1"
