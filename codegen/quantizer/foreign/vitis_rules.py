"""What the devices of a vai_q_pytorch configuration allow, each rule with its sentence.

Source: UG1414 3.0, configuration restrictions, and what the tool of that version checks.  The manual wants
narrow_range true on a DPU while its default is false: both are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from codegen.errors import VitisConflict
from codegen.quantizer.config.keys import ROLES
from codegen.quantizer.spec import Role
from codegen.records import record

Given = Mapping[str, Any]
_DPU, _OTHERS = ("dpu",), ("cpu", "gpu")
_HISTOGRAMS = ("maxmin", "percentile", "mse", "entropy")


@record
class VitisRule:
    """A sentence that holds on some devices, the parameter that it is about, and when it is broken."""

    devices: tuple[str, ...]
    parameter: str
    sentence: str
    broken: Callable[[Role, Given], bool]


def _float_per_tensor(given: Given) -> bool:
    return given["scale_type"] == "float" and not given["per_channel"]


VITIS_RULES: tuple[VitisRule, ...] = (
    VitisRule(_DPU, "method", "a DPU takes diffs or maxmin", lambda r, g: g["method"] not in ("diffs", "maxmin")),
    VitisRule(
        _DPU,
        "round_mode",
        "a DPU rounds weights, biases and inputs by std_round, activations by half_up",
        lambda r, g: g["round_mode"] != ("half_up" if r == "activation" else "std_round"),
    ),
    VitisRule(_DPU, "symmetry", "a DPU takes symmetric quantization", lambda r, g: not g["symmetry"]),
    VitisRule(_DPU, "per_channel", "a DPU has one scale per tensor", lambda r, g: g["per_channel"]),
    VitisRule(_DPU, "signed", "a DPU takes signed integers", lambda r, g: not g["signed"]),
    VitisRule(_DPU, "scale_type", "a DPU has poweroftwo scales", lambda r, g: g["scale_type"] != "poweroftwo"),
    VitisRule(
        _DPU,
        "calib_statistic_method",
        "a DPU takes the modal statistic",
        lambda r, g: g["calib_statistic_method"] != "modal",
    ),
    VitisRule(
        _OTHERS,
        "per_channel",
        "only weights are quantized per channel",
        lambda r, g: g["per_channel"] and r != "weights",
    ),
    VitisRule(
        _OTHERS,
        "method",
        "float scales per channel go with maxmin",
        lambda r, g: g["per_channel"] and g["scale_type"] == "float" and g["method"] != "maxmin",
    ),
    VitisRule(
        _OTHERS,
        "method",
        "poweroftwo scales go with diffs or maxmin",
        lambda r, g: g["scale_type"] == "poweroftwo" and g["method"] not in ("diffs", "maxmin"),
    ),
    VitisRule(
        _OTHERS,
        "symmetry",
        "poweroftwo scales go with symmetric quantization",
        lambda r, g: g["scale_type"] == "poweroftwo" and not g["symmetry"],
    ),
    VitisRule(
        _OTHERS,
        "signed",
        "poweroftwo scales go with signed integers",
        lambda r, g: g["scale_type"] == "poweroftwo" and not g["signed"],
    ),
    VitisRule(
        _OTHERS,
        "calib_statistic_method",
        "poweroftwo scales go with the modal statistic",
        lambda r, g: g["scale_type"] == "poweroftwo" and g["calib_statistic_method"] != "modal",
    ),
    VitisRule(
        _OTHERS,
        "method",
        "a float scale per tensor goes with maxmin, percentile, mse or entropy",
        lambda r, g: _float_per_tensor(g) and g["method"] not in _HISTOGRAMS,
    ),
    VitisRule(
        _OTHERS,
        "calib_statistic_method",
        "maxmin, percentile, mse and entropy with float scales go with the statistics max, mean and median, not modal",
        lambda r, g: _float_per_tensor(g) and g["calib_statistic_method"] == "modal",
    ),
    VitisRule(
        _OTHERS,
        "method",
        "asymmetric quantization goes with maxmin, not with mse, entropy or percentile",
        lambda r, g: not g["symmetry"] and g["scale_type"] == "float" and g["method"] != "maxmin",
    ),
)


def conflicts(device: str, parameters: Mapping[Role, Given], place: str) -> Iterator[VitisConflict]:
    """The rules that one level breaks, each with the kinds of tensors that break it."""
    for rule in VITIS_RULES:
        roles = [role for role in ROLES if device in rule.devices and rule.broken(role, parameters[role])]
        if roles:
            values = ", ".join(dict.fromkeys(str(parameters[role][rule.parameter]) for role in roles))
            found = f"{rule.parameter} of {', '.join(roles)} is {values}: {rule.sentence}"
            yield VitisConflict(found, where=place)
    if device == "dpu" and parameters["activation"]["bit_width"] != parameters["bias"]["bit_width"]:
        widths = [parameters[role]["bit_width"] for role in ("activation", "bias")]
        found = f"bit_width of activation is {widths[0]}, of bias {widths[1]}: a DPU has the same for both"
        yield VitisConflict(found, where=place)
