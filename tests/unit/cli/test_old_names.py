"""What has another name now: the old one does the same, and one line says the new one."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import codegen
from codegen.old_names import OldName
from codegen.resources import resource_dir
from codegen.target import list_targets, load_target
from tests.unit.cli.conftest import TINY, Lamina

MODES = [("double", "tflite"), ("float", "ort")]


@pytest.mark.parametrize(("old", "new"), MODES)
def test_an_old_mode_on_the_command_line_is_the_new_one_and_is_told_once(
    old: str, new: str, lamina: Lamina, tmp_path: Path
) -> None:
    before = lamina("compile", TINY, "-o", tmp_path / "a", "--requant", old)
    after = lamina("compile", TINY, "-o", tmp_path / "b", "--requant", new)
    assert (before.code, after.code) == (0, 0)
    assert before.err == f"note: --requant: '{old}' is called '{new}' now\n"
    assert after.err == ""
    manifests = [(tmp_path / folder / "manifest.json").read_bytes() for folder in "ab"]
    assert manifests[0] == manifests[1]
    assert f'"requant": "{new}"'.encode() in manifests[0]


@pytest.mark.parametrize(("old", "new"), MODES)
def test_an_old_mode_in_python_is_the_new_one_and_warns(old: str, new: str) -> None:
    with pytest.warns(OldName, match=f"requant: '{old}' is called '{new}' now"):
        assert codegen.verify(TINY, requant=old, samples=1).requant == new


def test_a_target_of_the_user_may_have_old_names(lamina: Lamina, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    text = (resource_dir("targets") / "chips" / "reference" / "generic.toml").read_text(encoding="utf-8")
    assert '["single", "tflite", "ort"]' in text
    mine.write_text(
        text.replace('["single", "tflite", "ort"]', '["single", "double", "float"]\nrequant_default = "float"')
    )
    with pytest.warns(OldName) as told:
        target = load_target(mine)
    assert (target.requant_modes[:3], target.requant_default) == (("single", "tflite", "ort"), "ort")
    assert len(told) == 3
    ran = lamina("targets", mine)
    assert ran.code == 0
    assert ran.err.splitlines() == [
        f"note: {mine}, requant_modes: 'double' is called 'tflite' now",
        f"note: {mine}, requant_modes: 'float' is called 'ort' now",
        f"note: {mine}, requant_default: 'float' is called 'ort' now",
    ]


def test_a_name_that_never_was_is_still_refused(lamina: Lamina, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lamina("compile", TINY, "-o", tmp_path / "d", "--requant", "triple").code == 2


@pytest.mark.parametrize("name", list_targets())
def test_shipped_targets_have_the_names_of_today(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_target(name).name == name


def test_flags_of_the_past_do_what_those_of_today_do(lamina: Lamina) -> None:
    before = lamina("inspect", TINY, "--optimize=memory", "--json")
    assert before.err == "note: options: '--optimize' is called '--goal' now\n"
    assert before.out == lamina("inspect", TINY, "--goal", "memory", "--json").out
    ran = lamina("profile", TINY, "--level", "-O1", "--repeats", "1")
    assert ran.code == 0
    assert ran.err == "note: options: '--level' is called '--opt-level' now\n"
