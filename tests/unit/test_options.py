"""Options: every function of the package takes all of them, as keywords or as one record, and refuses what is none."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import codegen
from codegen.api import words
from codegen.cli.group import COMMANDS, GROUP
from codegen.errors import OptionBad
from codegen.old_names import OldName
from codegen.options import GOALS, Options
from codegen.resources import resource_dir
from codegen.verbs.compile import Writing
from codegen.verbs.evaluate import Judging
from codegen.verbs.profile import Measuring
from codegen.verbs.run import Feeding
from codegen.verbs.verify import Checking

DIGITS = resource_dir("examples") / "digits" / "digits_qdq.onnx"
HELD_OUT = resource_dir("examples") / "digits" / "digits_test.npz"
SAID_BY_NAME = {Writing: {"out"}, Judging: {"metric", "engine"}, Feeding: {"engine"}}
"""Fields of the records that are parameters of their functions."""
VERBS: dict[str, Callable[..., Any]] = {
    "inspect": lambda **said: codegen.inspect(DIGITS, **said).arena_bytes,
    "verify": lambda **said: codegen.verify(DIGITS, samples=1, **said).equal,
    "run": lambda **said: codegen.run(DIGITS, np.load(HELD_OUT)["x"][:2], "c", **said).tolist(),
    "run_file": lambda **said: codegen.run_file(DIGITS, HELD_OUT, "c", limit=2, **said),
    "evaluate": lambda **said: codegen.evaluate(DIGITS, HELD_OUT, limit=5, **said).value,
    "profile": lambda **said: codegen.profile(DIGITS, repeats=1, **said).macs,
}


def names(record: type[Any]) -> set[str]:
    return {field.name for field in dataclasses.fields(record)}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (Writing, words.WritingWords),
        (Checking, words.CheckingWords),
        (Measuring, words.MeasuringWords),
        (Feeding, words.FeedingWords),
        (Judging, words.JudgingWords),
    ],
)
def test_keywords_are_the_fields_of_options_and_of_the_verbs_record(record: type[Any], said: type[Any]) -> None:
    own = names(record) - SAID_BY_NAME.get(record, set())
    assert set(said.__annotations__) | {"target"} >= own
    assert set(said.__mutable_keys__ if hasattr(said, "__mutable_keys__") else said.__optional_keys__) == (
        {"options", "plugins"} | (names(Options) - {"target"}) | own  # plug-ins join the record's toolkit
    )


OF_A_PROJECT = {"labels", "model_version", "package"}
"""What only a project that is written has a place for."""


def test_every_command_on_a_model_has_every_option_of_a_compilation() -> None:
    context = click.Context(GROUP)
    on_models = {"compile", "verify", "inspect", "report", "profile", "run", "eval"}
    for name in COMMANDS:
        command = GROUP.get_command(context, name)
        assert command is not None
        offered = {param.name for param in command.params}
        missing = names(Options) - {"name", "vectors"} - OF_A_PROJECT - offered
        assert (not missing) == (name in on_models), (name, missing)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("verb", VERBS)
def test_an_option_means_the_same_as_a_keyword_and_in_a_record(verb: str) -> None:
    said: dict[str, Any] = {
        "io_layout": "model",
        "io_type": "model",
        "weights": "blob",
        "name": "other",
        "goal": "memory",
    }
    by_words, whole = VERBS[verb](**said), VERBS[verb](options=Options(**said))
    np.testing.assert_equal(by_words, whole)
    if verb in ("run", "run_file", "evaluate", "verify"):
        np.testing.assert_equal(by_words, VERBS[verb]())


def test_a_keyword_goes_before_the_record() -> None:
    small, fast = (codegen.inspect(DIGITS, "generic", goal=goal).arena_bytes for goal in ("memory", "speed"))
    assert small is not None
    assert fast is not None
    assert small < fast
    record = Options(goal="speed", target="generic")
    assert codegen.inspect(DIGITS, options=record, goal="memory").arena_bytes == small
    assert codegen.inspect(DIGITS, options=record).target == "generic"
    assert codegen.inspect(DIGITS, "host", options=record).target == "host"


@pytest.mark.parametrize("verb", VERBS)
def test_a_word_that_is_no_option_is_a_type_error(verb: str) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'gaol'"):
        VERBS[verb](gaol="memory")


def test_words_of_the_past_are_understood_and_told() -> None:
    with pytest.warns(OldName, match="keyword: 'optimize' is called 'goal' now"):
        assert codegen.inspect(DIGITS, optimize="memory") == codegen.inspect(DIGITS, goal="memory")  # type: ignore[call-arg]
    with pytest.warns(OldName, match="keyword: 'level' is called 'opt_level' now"):
        assert "-O1" in codegen.profile(DIGITS, level="-O1", repeats=1).flags  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("option", "value"),
    [("goal", "small"), ("weights", "d"), ("io_type", "c"), ("arena_limit", 0), ("arena_limit", True), ("name", 3)],
)
def test_options_that_cannot_be_do_not_exist(option: str, value: object) -> None:
    with pytest.raises(OptionBad, match=f"LAM-IMPORT-030 {option}"):
        Options(**{option: value})  # type: ignore[arg-type]


def test_options_are_one_value() -> None:
    given = Options(shapes={"x": [1, 3]})  # type: ignore[arg-type]
    assert given == Options(shapes=(("x", (1, 3)),))
    assert hash(given) == hash(dataclasses.replace(given))
    assert [Options(goal=goal).goal for goal in GOALS] == list(GOALS)


def test_a_target_of_the_user_may_have_the_keys_of_the_past(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    chip = 'name = "mine"\ndescription = "d"\ncore = "cortex-m4"\noptimize_default = "speed"\n'
    memory = '[[memories]]\nname = "sram"\nkind = "ram"\nbytes = 65536\nsource = "s"\n'
    mine.write_text(f'{chip}{memory}[toolchain]\noptimize = "-Os"\n', encoding="utf-8")
    with pytest.warns(OldName) as told:
        target = codegen.describe_target(str(mine))
    assert target.goal_default == "speed"
    assert target.toolchain is not None
    assert target.toolchain.opt_level == "-Os"
    assert [str(w.message).rsplit(": ", 1)[1] for w in told] == [
        "'optimize_default' is called 'goal_default' now",
        "'optimize' is called 'opt_level' now",
    ]


def test_a_memory_of_the_users_target_may_be_called_lmem(tmp_path: Path) -> None:
    """The kind `scratchpad` by its name of the past."""
    chip = (resource_dir("targets") / "chips/reference/gap8-like.toml").read_text(encoding="utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(chip.replace('kind = "scratchpad"', 'kind = "lmem"'), encoding="utf-8")
    with pytest.warns(OldName, match="memories, kind: 'lmem' is called 'scratchpad' now"):
        target = codegen.describe_target(str(mine))
    assert target.memories == codegen.describe_target("gap8-like").memories
