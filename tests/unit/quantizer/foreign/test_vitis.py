"""Configurations of vai_q_pytorch: what they mean here, whose rules are kept, and what is said of the rest."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from codegen.errors import CompileError
from codegen.quantizer.config import QuantConfig
from codegen.quantizer.foreign.torch_types import exported_name
from codegen.quantizer.foreign.vitis import parse_vitis
from codegen.quantizer.foreign.vitis_rules import VITIS_RULES
from codegen.quantizer.foreign.vitis_scope import DEFAULTS
from codegen.quantizer.spec import Spec

KINDS = ["input", "weights", "bias", "activation"]
POWERS: dict[str, Any] = dict(DEFAULTS)
FLOATS: dict[str, Any] = {
    **POWERS,
    "method": "maxmin",
    "round_mode": "half_even",
    "scale_type": "float",
    "calib_statistic_method": "max",
}
DEFAULT: dict[str, Any] = {
    "convert_relu6_to_relu": False,
    "include_cle": True,
    "include_bias_corr": True,
    "target_device": "DPU",
    "quantizable_data_type": KINDS,
    "overall_quantize_config": POWERS,
}
"""What holds without a file, written as one."""
MODEL: dict[str, Any] = {
    "convert_relu6_to_relu": False,
    "include_cle": False,
    "keep_first_last_layer_accuracy": False,
    "keep_add_layer_accuracy": False,
    "include_bias_corr": False,
    "target_device": "CPU",
    "quantizable_data_type": KINDS,
    "overall_quantize_config": FLOATS,
    "tensor_quantize_config": {"activation": {"method": "mse"}},
}
"""The manual's example of a model's level."""
CONV1 = "ResNet::ResNet/Conv2d[conv1]/input.2"
LAYERS: dict[str, Any] = {
    **MODEL,
    "layer_quantize_config": [
        {
            "layer_type": "torch.nn.Conv2d",
            "layer_name": None,
            "quantizable_data_type": KINDS[1:],
            "overall_quantize_config": FLOATS,
            "tensor_quantize_config": {"weights": {"per_channel": True}, "activation": {"method": "entropy"}},
        },
        {
            "layer_type": None,
            "layer_name": CONV1,
            "quantizable_data_type": KINDS[1:],
            "overall_quantize_config": FLOATS,
            "tensor_quantize_config": {"activation": {"round_mode": "half_up"}},
        },
    ],
}
"""Its example with layers by type and by name."""


def problems(document: dict[str, Any]) -> list[CompileError]:
    with pytest.raises(CompileError) as error:
        parse_vitis(document, "v.json")
    return list(error.value.problems())


def changed(document: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy with one value changed, at keys and numbers joined by `/`."""
    found = copy.deepcopy(document)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    place: Any = found
    for part in way:
        place = place.setdefault(part, {}) if isinstance(part, str) else place[part]
    place[last] = value
    return found


def test_the_default_is_powers_of_two_by_diffs() -> None:
    config = parse_vitis(DEFAULT, "v.json")
    same = Spec(symmetric=True, pot=True, method="diffs", rounding="half_away")
    assert config.spec("weights", layer="a", op_type="Conv") == same
    assert config.spec("input") == Spec(**{**vars_of(same), "statistic": "mode"})
    assert config.spec("activation") == Spec(**{**vars_of(same), "statistic": "mode", "rounding": "half_up"})
    assert config.spec("bias") == Spec(bits=32, symmetric=True, per_channel=True, rounding="half_away")
    assert (config.rewrite.equalize, config.rewrite.relu6_to_relu, config.correct.bias) == ("on", "off", "empirical")
    assert any("32 bits" in note for note in config.notes)


def vars_of(spec: Spec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in Spec.__dataclass_fields__}


def test_a_model_s_level_has_tensors_of_its_own() -> None:
    config = parse_vitis(MODEL, "v.json")
    assert config.spec("weights") == Spec(symmetric=True)
    assert config.spec("input") == Spec(symmetric=True, statistic="max")
    assert config.spec("activation") == Spec(symmetric=True, method="mse")
    assert (config.rewrite.equalize, config.correct.bias) == ("off", "none")
    assert any("batch by batch" in note for note in config.notes)


def test_layers_by_type_and_by_name() -> None:
    config = parse_vitis(LAYERS, "v.json")
    assert config.spec("weights", layer="x", op_type="Conv") == Spec(symmetric=True, per_channel=True)
    assert config.spec("activation", layer="x", op_type="CONV_2D").method == "entropy"
    assert config.spec("activation", layer="x", op_type="Gemm").method == "mse"
    for name in (CONV1, "/conv1/Conv"):
        assert config.spec("activation", layer=name, op_type="Conv") == Spec(
            symmetric=True, statistic="max", rounding="half_up"
        )
        assert not config.spec("weights", layer=name, op_type="Conv").per_channel
    assert config.spec("input", layer="x", op_type="Conv").keep_float


@pytest.mark.parametrize(
    ("name", "glob"),
    [
        (CONV1, "/conv1/*"),
        ("R::R/Sequential[layer1]/BasicBlock[0]/Conv2d[conv2]/55", "/layer1/*0/conv2/*"),
        ("plain", None),
    ],
)
def test_a_module_s_path_is_found_in_exported_names(name: str, glob: str | None) -> None:
    assert exported_name(name) == glob


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("half_even", "half_even"), ("half_up", "half_up"), ("half_down", "half_down"), ("std_round", "half_away")],
)
def test_roundings(theirs: str, ours: str) -> None:
    config = parse_vitis(changed(MODEL, "overall_quantize_config/round_mode", theirs), "v.json")
    assert config.spec("weights").rounding == config.spec("bias").rounding == ours


@pytest.mark.parametrize(
    ("method", "statistic", "ours"),
    [("maxmin", "mean", "mean"), ("maxmin", "median", "median"), ("percentile", "mean", "all"), ("mse", "max", "all")],
)
def test_statistics_over_batches(method: str, statistic: str, ours: str) -> None:
    document = changed(
        MODEL, "tensor_quantize_config/activation", {"method": method, "calib_statistic_method": statistic}
    )
    config = parse_vitis(document, "v.json")
    assert config.spec("activation").statistic == ours
    assert any("batch by batch" in note for note in config.notes) == (ours == "all")


def test_keys_of_the_later_version() -> None:
    document = changed(MODEL, "tensor_quantize_config/activation", {"method": "percentile", "percentage": 99.9})
    assert parse_vitis(document, "v.json").spec("activation").percentile == 99.9
    document = changed(MODEL, "tensor_quantize_config/activation", {"datatype": "bfloat16"})
    config = parse_vitis(document, "v.json")
    assert config.spec("activation").keep_float
    assert any("held as float32" in note for note in config.notes)


@pytest.mark.parametrize(
    "key", ["keep_add_layer_accuracy", "convert_silu_to_hswish", "change_concat_input_fix", "change_pool_input_fix"]
)
def test_what_is_done_otherwise_is_noted(key: str) -> None:
    assert not any(key in note for note in parse_vitis(MODEL, "v.json").notes)
    assert any(key in note for note in parse_vitis(changed(MODEL, key, True), "v.json").notes)


def test_flags_of_the_model() -> None:
    document = {**MODEL, "convert_relu6_to_relu": True, "include_cle": True, "keep_first_last_layer_accuracy": True}
    config = parse_vitis(document, "v.json")
    assert (config.rewrite.relu6_to_relu, config.rewrite.equalize) == ("on", "on")
    assert (config.mixed.first, config.mixed.last) == (1, 1)


def test_kinds_of_tensors_that_are_not_quantized_stay_float() -> None:
    config = parse_vitis({**MODEL, "quantizable_data_type": ["weights", "bias"]}, "v.json")
    kept = [config.spec(role).keep_float for role in ("input", "weights", "bias", "activation")]
    assert kept == [True, False, False, True]


T = "tensor_quantize_config"
O = "overall_quantize_config"  # noqa: E741 - beside T
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("a DPU takes diffs or maxmin", DEFAULT, f"{T}/weights/method=mse"),
    ("a DPU rounds", DEFAULT, f"{T}/activation/round_mode=std_round"),
    ("a DPU takes symmetric", DEFAULT, f"{T}/activation/symmetry=False"),
    ("a DPU has one scale", DEFAULT, f"{T}/weights/per_channel=True"),
    ("a DPU takes signed", DEFAULT, f"{T}/input/signed=False"),
    ("a DPU has poweroftwo", DEFAULT, f"{T}/weights/scale_type=float"),
    ("a DPU takes the modal", DEFAULT, f"{T}/activation/calib_statistic_method=max"),
    ("only weights", MODEL, f"{O}/per_channel=True"),
    ("float scales per channel", MODEL, f"{T}/weights/per_channel=True {T}/weights/method=entropy"),
    ("poweroftwo scales go with diffs", MODEL, f"{T}/weights/scale_type=poweroftwo {T}/weights/method=mse"),
    ("poweroftwo scales go with symmetric", MODEL, f"{T}/weights/scale_type=poweroftwo {T}/weights/symmetry=False"),
    ("poweroftwo scales go with signed", MODEL, f"{T}/input/scale_type=poweroftwo {T}/input/signed=False"),
    ("poweroftwo scales go with the modal", MODEL, f"{T}/weights/scale_type=poweroftwo"),
    ("a float scale per tensor", MODEL, f"{T}/activation/method=diffs"),
    ("maxmin, percentile, mse and entropy", MODEL, f"{T}/activation/calib_statistic_method=modal"),
    ("asymmetric quantization", MODEL, f"{T}/activation/symmetry=False"),
    ("a DPU has the same for both", DEFAULT, f"{T}/activation/bit_width=4"),
]


def edited(document: dict[str, Any], edits: str) -> dict[str, Any]:
    words: dict[str, object] = {"True": True, "False": False, "4": 4}
    for edit in edits.split():
        path, value = edit.split("=")
        document = changed(document, path, words.get(value, value))
    return document


@pytest.mark.parametrize(("sentence", "document", "edits"), BROKEN)
def test_what_the_device_does_not_allow_is_refused_with_its_rule(
    sentence: str, document: dict[str, Any], edits: str
) -> None:
    found = [p for p in problems(edited(document, edits)) if p.code == "LAM-QUANT-007"]
    assert [p for p in found if f": {sentence}" in p.found]
    assert all(p.where == "v.json" for p in found)


def test_every_rule_has_a_case() -> None:
    stated = [case[0] for case in BROKEN[:-1]]
    assert [sum(rule.sentence.startswith(case) for case in stated) for rule in VITIS_RULES] == [1] * len(stated)


def test_rules_hold_in_layers_too_and_all_problems_are_told() -> None:
    document = edited(LAYERS, f"layer_quantize_config/0/{T}/activation/symmetry=False {O}/method=diffs")
    found = problems({**document, "includecle": True})
    assert {p.code for p in found} == {"LAM-QUANT-002", "LAM-QUANT-007"}
    assert any(p.where == "v.json, layer_quantize_config[0]" for p in found)


@pytest.mark.parametrize(
    ("path", "value", "code", "place"),
    [
        ("include_cel", True, "LAM-QUANT-002", "include_cel"),
        ("include_cle", "yes", "LAM-QUANT-003", "include_cle"),
        ("target_device", "TPU", "LAM-QUANT-003", "target_device"),
        ("quantizable_data_type", ["weight"], "LAM-QUANT-003", "quantizable_data_type"),
        ("overall_quantize_config", 8, "LAM-QUANT-003", "overall_quantize_config"),
        (f"{O}/bitwidth", 8, "LAM-QUANT-002", f"{O}.bitwidth"),
        (f"{O}/method", "kl", "LAM-QUANT-003", f"{O}.method"),
        (f"{O}/bit_width", 0, "LAM-QUANT-003", f"{O}.bit_width"),
        (f"{T}/weight", {}, "LAM-QUANT-002", f"{T}.weight"),
        (f"{T}/weights/round_mode", "floor", "LAM-QUANT-003", f"{T}.weights.round_mode"),
        (f"{T}/weights/bit_width", 12, "LAM-QUANT-010", "v.json"),
        (f"{T}/weights/bit_width", 16, "LAM-QUANT-005", "v.json"),
        ("layer_quantize_config", {}, "LAM-QUANT-003", "layer_quantize_config"),
        ("layer_quantize_config/0/layer_name", "both", "LAM-QUANT-004", "layer_quantize_config[0]"),
        ("layer_quantize_config/1/layer_name", None, "LAM-QUANT-004", "layer_quantize_config[1]"),
        ("layer_quantize_config/0/layer_typ", "x", "LAM-QUANT-002", "layer_quantize_config[0].layer_typ"),
        (f"layer_quantize_config/1/{O}/signed", None, "LAM-QUANT-003", f"layer_quantize_config[1].{O}.signed"),
    ],
)
def test_a_wrong_document_is_refused_with_the_place(path: str, value: object, code: str, place: str) -> None:
    found = problems(changed(LAYERS, path, value))
    assert code in [p.code for p in found]
    assert any(p.where.endswith(place) for p in found)


@pytest.mark.parametrize("key", ["quantizable_data_type", O, *(f"{O}/{key}" for key in FLOATS)])
def test_a_layer_states_everything(key: str) -> None:
    document = copy.deepcopy(LAYERS)
    *way, last = key.split("/")
    place = document["layer_quantize_config"][0]
    for part in way:
        place[part] = dict(place[part])  # the layers share theirs
        place = place[part]
    del place[last]
    assert [p.code for p in problems(document)] == ["LAM-QUANT-004"]


def test_a_model_needs_its_overall_level_only() -> None:
    assert isinstance(parse_vitis({O: {}}, "v.json"), QuantConfig)
    assert [p.code for p in problems({"include_cle": True})] == ["LAM-QUANT-004"]
