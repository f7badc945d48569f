"""Reads the JSON configuration of AMD's vai_q_pytorch (UG1414 3.0; keys of 3.5 too).

Decides: what each of its keys is in our grammar, and what is noted because it is done otherwise.  Its own levels are
put together first: default, model, tensors of the model, layer, tensors of the layer; its own rules are checked by
`vitis_rules`.  Types go before names, as with us.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.quantizer.config import Correct, Mixed, QuantConfig, Rewrite
from codegen.quantizer.config.config import soundness
from codegen.quantizer.config.findings import Findings
from codegen.quantizer.config.keys import ROLES
from codegen.quantizer.config.kinds import FLAG, Kind, whole
from codegen.quantizer.config.levels import Level, in_order
from codegen.quantizer.foreign.vitis_rules import conflicts
from codegen.quantizer.foreign.vitis_scope import TABLES, TYPES, layer_scope, model_scope, word

Values = Mapping[str, object]
_FLAGS: Mapping[str, bool] = {
    "convert_relu6_to_relu": False,
    "include_cle": True,
    "include_bias_corr": True,
    "keep_first_last_layer_accuracy": False,
    "keep_add_layer_accuracy": False,
    "convert_silu_to_hswish": False,
    "change_concat_input_fix": False,
    "change_pool_input_fix": False,
}
"""Of the model, with what holds without them."""
_MODEL: Mapping[str, Kind] = {
    **dict.fromkeys(_FLAGS, FLAG),
    "target_device": word("dpu", "cpu", "gpu", "flexml"),
    "quantizable_data_type": TYPES,
    "onnx_opset_version": whole(1, 100),
}
_LISTED = ("layer_quantize_config",)
_NOT_DONE = {
    "keep_add_layer_accuracy": "sums are quantized like other layers",
    "convert_silu_to_hswish": "SiLU stays what it is: its integer result is a table's",
    "change_concat_input_fix": "the inputs of a concatenation keep their scales and are requantized",
    "change_pool_input_fix": "the input of a pooling keeps its scale and is requantized",
}


def is_vitis(document: Values) -> bool:
    """Whether a JSON document is such a configuration."""
    return bool({*TABLES, *_LISTED, *_FLAGS, "target_device", "quantizable_data_type"} & document.keys())


def parse_vitis(document: Values, file: str) -> QuantConfig:
    """The configuration; LAM-QUANT-002 to -004 for keys, -007 for what its device does not allow, or -006 with all."""
    findings = Findings(file)
    model = _read_model(document, findings)
    scopes = [model_scope(document, model["quantizable_data_type"], model["target_device"], findings)]
    scopes += [layer_scope(entry, place, findings) for place, entry in findings.tables(document, *_LISTED)]
    for scope in (scope for scope in scopes if scope.is_whole):
        findings.add(conflicts(model["target_device"], scope.parameters, findings.at(scope.place)))
        findings.add(scope.unheld(findings.at(scope.place)))
    findings.end()
    levels = [level for scope in scopes for level in scope.levels(file)]
    findings.add(soundness(levels))
    findings.end()
    return _config(model, levels, [note for scope in scopes for note in scope.notes()])


def _read_model(document: Values, findings: Findings) -> dict[str, Any]:
    own = {k: v for k, v in document.items() if k not in (*TABLES, *_LISTED)}
    if TABLES[0] not in document:
        findings.missing(TABLES[0])
    read = findings.values(own, _MODEL, "", (*TABLES, *_LISTED))
    return {**_FLAGS, "target_device": "dpu", "quantizable_data_type": ROLES, **read}


def _config(model: Mapping[str, Any], levels: list[Level], notes: list[str]) -> QuantConfig:
    notes += [f"{key}: {says}" for key, says in _NOT_DONE.items() if model[key]]
    if model["target_device"] == "dpu":
        notes.append("target_device DPU: functions and average pools are computed as they are, not as a DPU does")
    if "onnx_opset_version" in model:
        notes.append("onnx_opset_version: the file is written in the least opset that has what it needs")
    ends = 1 if model["keep_first_last_layer_accuracy"] else None
    return QuantConfig(
        levels=in_order(levels),
        rewrite=Rewrite(
            equalize="on" if model["include_cle"] else "off",
            relu6_to_relu="on" if model["convert_relu6_to_relu"] else "off",
        ),
        correct=Correct(bias="empirical" if model["include_bias_corr"] else "none"),
        mixed=Mixed(first=ends, last=ends),
        notes=tuple(dict.fromkeys(notes)),
    )
