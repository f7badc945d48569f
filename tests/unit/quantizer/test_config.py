"""The quantizer's grammar: which level wins, what goes together, and what is refused."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from codegen.errors import CompileError
from codegen.preprocess import load_preprocess
from codegen.quantizer.asked import Asked
from codegen.quantizer.config import DEFAULTS, KEYS, QuantConfig, parse_config, said
from codegen.quantizer.config.keys import ROLES
from codegen.quantizer.config.levels import literal
from codegen.quantizer.config.rules import RULES
from codegen.quantizer.config.settings import kinds_of
from codegen.quantizer.config.toml import SETTINGS
from codegen.quantizer.mixed import MixedAsking
from codegen.quantizer.spec import Role, Spec

WHERE: dict[str, dict[str, object]] = {
    "all": {"quantize": {"bits": 7}},
    "role": {"quantize": {"activation": {"bits": 6}}},
    "type": {"layer": [{"type": "Conv", "bits": 5}]},
    "name": {"layer": [{"name": "conv*", "bits": 4}]},
    "tensor": {"tensor": [{"name": "y", "bits": 3}]},
}
"""Levels from the weakest on, each with a width of its own."""


def merged(*tables: dict[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for table in tables:
        for key, value in table.items():
            before = found.get(key)
            if isinstance(value, list):
                found[key] = [*(before if isinstance(before, list) else []), *value]
            else:
                assert isinstance(value, dict)
                found[key] = {**(before if isinstance(before, dict) else {}), **value}
    return found


def parsed(**tables: object) -> QuantConfig:
    return parse_config(tables, "q.toml")


def problems(tables: dict[str, object]) -> list[CompileError]:
    with pytest.raises(CompileError) as error:
        parse_config(tables, "q.toml")
    return list(error.value.problems())


@pytest.mark.parametrize("role", ROLES)
def test_without_a_file_every_role_has_its_default(role: Role) -> None:
    assert QuantConfig().spec(role, layer="conv1", op_type="Conv", tensor="y") == DEFAULTS[role]


def test_of_any_levels_the_strongest_that_speaks_wins_whatever_the_order_in_the_file() -> None:
    for size in range(1, len(WHERE) + 1):
        for names in itertools.combinations(WHERE, size):
            config = parsed(**merged(*(WHERE[name] for name in reversed(names))))
            spec = config.spec("activation", layer="conv1", op_type="Conv", tensor="y")
            assert spec == Spec(bits=7 - list(WHERE).index(names[-1])), names


def test_of_entries_of_one_kind_the_later_wins_and_of_one_entry_the_role_s_table() -> None:
    entries: list[dict[str, object]] = [
        {"name": "c*", "bits": 4, "activation": {"bits": 3}},
        {"name": "conv1", "bits": 2},
    ]
    bits = [
        parsed(layer=order).spec("activation", layer="conv1").bits for order in (entries, entries[::-1], entries[:1])
    ]
    assert bits == [2, 3, 3]


def test_levels_speak_of_their_own_tensors_only() -> None:
    config = parsed(**merged(*(table for name, table in WHERE.items() if name not in ("all", "role"))))
    assert config.spec("activation", layer="dense", op_type="Gemm", tensor="z") == Spec()
    assert config.spec("activation", layer="dense", op_type="Conv", tensor="z").bits == 5
    assert config.spec("activation", layer="conv9", op_type="Conv", tensor="z").bits == 4
    assert config.spec("weights", layer="conv1", op_type="Conv", tensor="w").bits == 4


def test_keys_add_up_over_levels() -> None:
    config = parsed(
        quantize={"rounding": "half_up", "activation": {"method": "percentile"}},
        layer=[{"type": "Conv", "percentile": 99.9}, {"name": "conv1", "bits": 16}],
    )
    spec = config.spec("activation", layer="conv1", op_type="Conv", tensor="y")
    assert spec == Spec(bits=16, symmetric=True, rounding="half_up", method="percentile", percentile=99.9)


@pytest.mark.parametrize(
    ("asked", "op_type"), [("Conv", "CONV_2D"), ("conv2d", "Conv"), ("MaxPool", "MAX_POOL_2D"), ("Gemm", "Gemm")]
)
def test_a_type_is_the_operator_s_whatever_the_format_spells(asked: str, op_type: str) -> None:
    config = parsed(layer=[{"type": asked, "bits": 4}])
    assert config.spec("weights", layer="a", op_type=op_type, tensor="w").bits == 4
    assert config.spec("weights", layer="a", op_type="DepthwiseConv", tensor="w").bits == 8


@pytest.mark.parametrize("name", ["a[b]", "a*", "a?", "[*]", "ResNet::ResNet/Conv2d[conv1]/input.2", "plain"])
def test_an_escaped_name_is_that_name_alone(name: str) -> None:
    config = parsed(tensor=[{"name": literal(name), "bits": 4}])
    assert config.spec("activation", tensor=name).bits == 4
    assert config.spec("activation", tensor="ab").bits == 8
    assert config.levels[0].name == name


def test_a_name_with_brackets_is_that_name_too() -> None:
    config = parsed(layer=[{"name": "x/Conv2d[conv1]", "bits": 4}])
    assert config.spec("weights", layer="x/Conv2d[conv1]").bits == 4
    assert config.spec("weights", layer="x/Conv2dc").bits == 4


def test_what_is_said_of_all_tensors_goes_to_those_it_can_mean() -> None:
    config = parsed(
        quantize={
            "bits": 4,
            "granularity": "tensor",
            "method": "moving_average",
            "momentum": 0.1,
            "rounding": "half_up",
        }
    )
    assert config.spec("weights") == Spec(bits=4, symmetric=None, narrow_range=None, rounding="half_up")
    assert config.spec("bias") == Spec(bits=32, symmetric=True, per_channel=True, rounding="half_up")
    assert config.spec("activation") == Spec(bits=4, method="moving_average", momentum=0.1, rounding="half_up")


def test_groups_are_channels_too() -> None:
    spec = parsed(quantize={"weights": {"granularity": "group:32"}}).spec("weights")
    assert (spec.per_channel, spec.group) == (True, 32)


def test_powers_of_two_imply_symmetric_and_a_range_that_it_is_taken() -> None:
    config = parsed(quantize={"scale": "pot"}, tensor=[{"name": "y", "range": [-1, 2.5]}])
    assert config.spec("activation", tensor="x") == Spec(pot=True, symmetric=True)
    spec = config.spec("activation", tensor="y")
    assert (spec.method, spec.low, spec.high) == ("fixed", -1.0, 2.5)


def test_weights_of_few_bits_have_zero_points_unless_more_is_said() -> None:
    words = ({}, {"symmetric": True}, {"scale": "pot"}, {"scales": [0.5]}, {"narrow_range": True})
    for word, centred, least in zip(words, (False, True, True, True, False), (-8, -8, -8, -8, -7), strict=True):
        spec = parsed(quantize={"weights": {"bits": 4, **word}}).spec("weights")
        assert (spec.centred, spec.least) == (centred, least)
    for bits, centred, least in ((2, True, -1), (3, False, -4), (7, False, -64), (8, True, -127)):
        spec = parsed(quantize={"weights": {"bits": bits}}).spec("weights")
        assert (spec.centred, spec.least) == (centred, least)
    assert parsed(quantize={"symmetric": True, "bits": 4}).spec("weights").centred
    assert parsed(quantize={"weights": {"bits": 2, "symmetric": False}}).spec("weights").least == -2


def test_layers_that_keep_8_bits_are_around_zero_though_fewer_bits_are_said_not_to_be() -> None:
    config = parsed(quantize={"weights": {"bits": 4, "symmetric": False}})
    asked = Asked(config, frozenset({"first"}))
    mixed = MixedAsking(asked, {}, {"wide": 8, "first": 4, "least": 2})
    of_asked = {"first": (8, True), "wide": (4, False), "least": (4, False)}
    of_mixed = {"first": (4, False), "wide": (8, True), "least": (2, False), "other": (4, False)}
    for asking, wanted in ((asked, of_asked), (mixed, of_mixed)):
        found = {name: asking.spec("weights", layer=name) for name in wanted}
        assert {name: (spec.bits, spec.centred) for name, spec in found.items()} == wanted


def test_16_bits_imply_symmetric_unless_more_is_said() -> None:
    config = parsed(quantize={"bits": 16, "input": {"symmetric": False}}, tensor=[{"name": "y", "bits": 8}])
    assert config.spec("activation") == Spec(bits=16, symmetric=True)
    assert config.spec("activation", tensor="y") == Spec()
    assert config.spec("input") == Spec(bits=16)


def test_a_threshold_is_the_least_integer_and_goes_before_a_range_where_zero_is_in_the_middle() -> None:
    tensor = {"name": "y", "range": [-1.0, 3.0], "threshold": 2.0}
    spec = parsed(tensor=[tensor]).spec("activation", tensor="y")
    assert (spec.low, spec.high, spec.method) == (-1.0, 3.0, "fixed")
    spec = parsed(quantize={"symmetric": True}, tensor=[tensor]).spec("activation", tensor="y")
    assert (spec.low, spec.high) == (-2.0 * 127 / 128, 2.0 * 127 / 128)
    spec = parsed(quantize={"symmetric": True, "signed": False}, tensor=[tensor]).spec("activation", tensor="y")
    assert (spec.low, spec.high) == (0.0, 2.0)


def test_a_later_method_takes_back_an_earlier_range_and_a_later_range_a_method() -> None:
    config = parsed(
        layer=[{"type": "Conv", "range": [0, 6]}, {"name": "a", "method": "mse"}],
        tensor=[{"name": "z", "range": [-1, 1]}],
    )
    assert config.spec("activation", layer="a", op_type="Conv", tensor="y").low is None
    assert config.spec("activation", layer="a", op_type="Conv", tensor="z").method == "fixed"


def test_what_the_command_line_says_goes_before_the_file_s_tables_and_behind_its_layers() -> None:
    file = parsed(
        quantize={"recipe": "fast", "seed": 3, "weights": {"bits": 6}}, layer=[{"name": "a", "weights": {"bits": 5}}]
    )
    both = said({"bits": 4}, "--weights", "weights").over(file)
    assert both.spec("weights", layer="b").bits == 4
    assert both.spec("weights", layer="a").bits == 5
    assert (both.general.recipe, both.general.seed, both.general.samples) == ("fast", 3, None)


def test_settings_are_read_and_what_is_not_said_is_none() -> None:
    config = parsed(
        quantize={
            "rewrite": {"equalize": "try", "absorb": False, "relu6_to_relu": True},
            "mixed": {"weights": [4, 8], "flash": "512K", "instructions": "1.5M", "arena": 65536},
            "search": {"methods": ["mse", "entropy"]},
            "correct": {"bias": "none"},
            "io": {"outputs": "float"},
        }
    )
    assert (config.rewrite.equalize, config.rewrite.absorb, config.rewrite.smooth) == ("try", "off", None)
    assert config.rewrite.relu6_to_relu == "on"
    assert (config.mixed.flash, config.mixed.instructions, config.mixed.arena) == (512 << 10, 1_500_000, 65536)
    assert config.mixed.weights == (4, 8)
    assert config.search.methods == ("mse", "entropy")


WRONG: list[tuple[dict[str, object], str, str, str]] = [
    ({"quantise": {}}, "LAM-QUANT-002", "q.toml, quantise", "did you mean quantize"),
    ({"quantize": {"bit": 8}}, "LAM-QUANT-002", "q.toml, quantize.bit", "did you mean bits"),
    ({"quantize": {"activations": {}}}, "LAM-QUANT-002", "quantize.activations", "did you mean activation"),
    ({"quantize": {"activation": {"granularity": "channel"}}}, "LAM-QUANT-002", "activation.granularity", "weights"),
    ({"quantize": {"weights": {"statistic": "max"}}}, "LAM-QUANT-002", "weights.statistic", "input, activation"),
    ({"quantize": {"range": [0, 1]}}, "LAM-QUANT-002", "quantize.range", "known here"),
    ({"quantize": 3}, "LAM-QUANT-003", "q.toml, quantize", "not a table"),
    ({"quantize": {"weights": 4}}, "LAM-QUANT-003", "quantize.weights", "not a table"),
    ({"layer": {"name": "a"}}, "LAM-QUANT-003", "q.toml, layer", "list of tables"),
    ({"layer": [{"name": "a", "bits": "8"}]}, "LAM-QUANT-003", "layer[0].bits", "2 to 8, 16, 32"),
    ({"layer": [{"bits": 8}]}, "LAM-QUANT-004", "layer[0]", "by one of them"),
    ({"layer": [{"name": "a", "type": "b"}]}, "LAM-QUANT-004", "layer[0]", "by one of them"),
    ({"layer": [{"name": ""}]}, "LAM-QUANT-003", "layer[0].name", "a text"),
    ({"tensor": [{"bits": 8}]}, "LAM-QUANT-004", "tensor[0].name", "missing"),
    ({"tensor": [{"name": "y", "momentums": 1}]}, "LAM-QUANT-002", "tensor[0].momentums", "momentum"),
    *(
        ({"quantize": {key: value}}, "LAM-QUANT-003", f"quantize.{key}", "it takes")
        for key, value in [
            ("bits", 9),
            ("bits", True),
            ("bits", 8.0),
            ("bits", 1),
            ("symmetric", 1),
            ("scale", "po2"),
            ("granularity", "group:1"),
            ("granularity", "group:x"),
            ("granularity", 3),
            ("method", ["mse"]),
            ("percentile", float("nan")),
            ("percentile", 100.5),
            ("momentum", 0),
            ("bins", 64),
            ("statistic", "modal"),
            ("rounding", None),
            ("recipe", "slow"),
            ("samples", 0),
            ("seed", -1),
        ]
    ),
    *(
        ({"tensor": [{"name": "y", "range": value}]}, "LAM-QUANT-003", "tensor[0].range", "zero between")
        for value in [[1, 2], [0, 0], [-1], [-1, float("inf")], [-1, float("nan")], "0..6", [0, 1e39], [3, -3]]
    ),
    *(
        ({"quantize": {table: {key: value}}}, "LAM-QUANT-003", f"quantize.{table}.{key}", "it takes")
        for table, key, value in [
            ("rewrite", "equalize", "maybe"),
            ("rewrite", "equalize", 1),
            ("mixed", "weights", []),
            ("mixed", "weights", [8, 8]),
            ("mixed", "weights", [16]),
            ("mixed", "activations", [4]),
            ("mixed", "flash", "512X"),
            ("mixed", "flash", "nan"),
            ("mixed", "flash", "-1K"),
            ("mixed", "flash", 0),
            ("mixed", "instructions", ""),
            ("search", "methods", "mse"),
            ("io", "outputs", "int8"),
        ]
    ),
    ({"quantize": {"rewrite": {"cle": True}}}, "LAM-QUANT-002", "quantize.rewrite.cle", "equalize"),
]


@pytest.mark.parametrize(("tables", "code", "place", "words"), WRONG)
def test_a_wrong_file_is_refused_with_the_place_and_the_way_out(
    tables: dict[str, object], code: str, place: str, words: str
) -> None:
    (problem,) = problems(tables)
    assert problem.code == code
    assert place in problem.where
    assert words in problem.text()


def test_everything_wrong_is_told_at_once() -> None:
    found = problems(
        {
            "quantize": {"bit": 8, "method": "max", "rewrite": {"x": 1}, "weights": {"bits": 16}},
            "layer": [{"bits": 3}, {"name": "a", "scale": "pot", "symmetric": False}],
            "tensor": [{"name": "y", "range": 6}],
        }
    )
    codes = [p.code.removeprefix("LAM-QUANT-00") for p in found]
    assert sorted(codes) == ["2", "2", "3", "3", "4", "5", "5", "5"]  # weights of 16 bits; pot in two roles


BROKEN: list[tuple[str, Role, dict[str, object], dict[str, object]]] = [
    ("a power of two", "activation", {"scale": "pot", "symmetric": False}, {"scale": "pot"}),
    ("`diffs` chooses", "weights", {"method": "diffs"}, {"method": "diffs", "scale": "pot"}),
    ("`fixed` takes", "input", {"method": "fixed"}, {"method": "fixed", "range": [0, 1]}),
    ("a range that is given", "input", {"method": "mse", "range": [0, 1]}, {"range": [0, 1]}),
    ("a moving average", "activation", {"method": "moving_average", "statistic": "max"}, {"statistic": "max"}),
    ("a statistic", "activation", {"method": "mse", "statistic": "mean"}, {"method": "minmax", "statistic": "mean"}),
    ("only signed", "activation", {"signed": False, "narrow_range": True}, {"signed": False}),
    ("integers of weights", "weights", {"signed": False, "narrow_range": False}, {"signed": True}),
    ("weights of 8 bits", "weights", {"symmetric": False}, {"symmetric": False, "bits": 4}),
    ("weights are known", "weights", {"method": "moving_average"}, {"method": "mse"}),
    ("weights have", "weights", {"bits": 16}, {"bits": 4}),
    ("biases have", "bias", {"bits": 8}, {"bits": 32}),
    ("inputs and activations", "activation", {"bits": 32}, {"bits": 16}),
    ("`entropy` merges", "activation", {"method": "entropy", "bits": 16}, {"method": "entropy", "bits": 8}),
    ("`tqt` learns", "weights", {"learn": "tqt"}, {"learn": "tqt", "scale": "pot"}),
    ("powers of two are learned", "activation", {"learn": "lsq", "scale": "pot"}, {"learn": "none", "scale": "pot"}),
    ("`lsq+` learns", "activation", {"learn": "lsq+", "symmetric": True}, {"learn": "lsq+"}),
    ("`lsq+` and `pact`", "weights", {"learn": "pact"}, {"learn": "lsq"}),
]


@pytest.mark.parametrize(("sentence", "role", "wrong", "right"), BROKEN)
def test_what_does_not_go_together_is_refused_with_its_rule(
    sentence: str, role: Role, wrong: dict[str, object], right: dict[str, object]
) -> None:
    for tables in ({"quantize": {role: wrong}}, {"layer": [{"name": "a", role: wrong}]}):
        (problem,) = problems(tables)
        assert problem.code == "LAM-QUANT-005"
        assert f"{role}: {sentence}" in problem.found
        assert role in problem.where
    parsed(quantize={role: right})
    parsed(quantize={role: {**wrong, "keep_float": True}})


def test_every_rule_has_a_case() -> None:
    stated = [sum(rule.sentence.startswith(case[0]) for case in BROKEN) for rule in RULES]
    assert stated == [1] * len(BROKEN)


def test_what_another_level_can_set_right_is_judged_where_they_meet() -> None:
    config = parsed(layer=[{"type": "Conv", "scale": "pot"}, {"name": "a", "method": "diffs"}])
    assert config.spec("weights", layer="a", op_type="Conv").method == "diffs"
    with pytest.raises(CompileError) as error:
        config.spec("weights", layer="a", op_type="Gemm", tensor="w")
    assert error.value.code == "LAM-QUANT-005"
    assert "layer 'a'" in error.value.found
    assert "layer[1]" in error.value.where


@pytest.mark.parametrize("text", ["[quantize\n", "quantize = \x00", "\ufffe", "a = 1\na = 2"])
def test_text_that_is_not_toml_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "q.toml"
    path.write_text(text, encoding="utf-16" if text == "\ufffe" else "utf-8")
    with pytest.raises(CompileError) as error:
        QuantConfig.load(path)
    assert error.value.code == "LAM-QUANT-001"


def test_files_that_are_none_or_too_much_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "large.toml").write_text("#" * (1 << 20) + "\n\n")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 40 + "]" * 40)
    (tmp_path / "long.toml").write_text("a = 1" + "0" * 30)
    found = {}
    for name in ("pipe", "large", "deep", "long", "none"):
        with pytest.raises(CompileError) as error:
            QuantConfig.load(tmp_path / f"{name}.toml")
        found[name] = error.value.code
    ids = ["LAM-API-020", "LAM-API-021", "LAM-API-022", "LAM-API-023", "LAM-QUANT-001"]
    assert list(found.values()) == ids


def test_one_file_serves_samples_and_quantizer(tmp_path: Path) -> None:
    path = tmp_path / "both.toml"
    path.write_text("[preprocess]\ndivide = 255\n[quantize]\nbits = 4\n[[layer]]\nname = 'a'\n[[tensor]]\nname = 'y'\n")
    assert QuantConfig.load(path).spec("weights").bits == 4
    assert load_preprocess(path).divide == 255


def test_every_key_takes_what_its_documentation_gives() -> None:
    assert all(key.kind.takes and key.says.endswith(".") for key in KEYS)
    assert all(kinds_of(table) for table in SETTINGS.values())
