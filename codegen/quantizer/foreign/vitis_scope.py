"""One level of a vai_q_pytorch configuration: the model's or a layer's, with whole parameters for each kind of tensor.

Decides: which value a parameter has, and what it is among our keys.  Leaves to `vitis_rules` which parameters a device
allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codegen.errors import NotInIntegers
from codegen.quantizer.config.findings import Findings
from codegen.quantizer.config.keys import ROLES
from codegen.quantizer.config.kinds import FLAG, TEXT, Kind, one_of, real, several, whole
from codegen.quantizer.config.levels import ALL, LAYER_NAME, LAYER_TYPE, Level, literal
from codegen.quantizer.foreign import torch_types
from codegen.quantizer.spec import Role
from codegen.records import record

Values = Mapping[str, object]
Parameters = Mapping[Role, dict[str, Any]]
TABLES = ("overall_quantize_config", "tensor_quantize_config")
_HELD = (2, 3, 4, 5, 6, 7, 8, 16)
TYPES = several(one_of(*ROLES))
_ROUNDINGS = {"half_even": "half_even", "half_up": "half_up", "half_down": "half_down", "std_round": "half_away"}
_METHODS = {"maxmin": "minmax", "percentile": "percentile", "entropy": "entropy", "mse": "mse", "diffs": "diffs"}
_STATISTICS = {"modal": "mode", "max": "max", "mean": "mean", "median": "median"}
_FLOATS = ("float32", "float16", "bfloat16")


def word(*words: str) -> Kind:
    """One of some words in any case: the manual writes some with a capital."""
    plain = one_of(*words)
    return Kind(plain.takes, lambda v: plain.read(v.lower() if isinstance(v, str) else v))


PARAMETERS: Mapping[str, Kind] = {
    "bit_width": whole(1, 32),
    "method": word(*_METHODS),
    "round_mode": word(*_ROUNDINGS),
    "symmetry": FLAG,
    "per_channel": FLAG,
    "signed": FLAG,
    "narrow_range": FLAG,
    "scale_type": word("float", "poweroftwo"),
    "calib_statistic_method": word(*_STATISTICS),
    "datatype": word("int", *_FLOATS),
    "percentage": real(0, 100),
}
"""Of one tensor."""
DEFAULTS: Mapping[str, object] = {
    "bit_width": 8,
    "method": "diffs",
    "round_mode": "std_round",
    "symmetry": True,
    "per_channel": False,
    "signed": True,
    "narrow_range": False,
    "scale_type": "poweroftwo",
    "calib_statistic_method": "modal",
}
_LAYER: Mapping[str, Kind] = {
    "layer_type": Kind("a text or null", lambda v: v if v is None else TEXT.read(v)),
    "layer_name": Kind("a text or null", lambda v: v if v is None else TEXT.read(v)),
    "quantizable_data_type": TYPES,
}


@record(kw_only=True)
class Scope:
    """What a level says in whole: `parameters` of each kind of tensor, and which kinds are quantized.

    `chosen` are the ranks and names of our levels that it becomes.  One that is not whole is refused already.
    """

    place: str
    parameters: Parameters
    quantized: tuple[Role, ...]
    chosen: tuple[tuple[int, str], ...]
    said: tuple[str, ...] = ()
    is_whole: bool = True

    def levels(self, file: str) -> Iterator[Level]:
        """Our levels, one for each role and name."""
        place = f"{file}, {self.place}" if self.place else file
        for rank, name in self.chosen:
            for role in ROLES:
                values = _values(role, self.parameters[role]) if role in self.quantized else {"keep_float": True}
                entry = f"{self.place} {name}"
                yield Level(values=values, rank=rank, chosen=name, role=role, place=place, entry=entry)

    def unheld(self, place: str) -> Iterator[NotInIntegers]:
        """Widths that no integers here have; those of biases are always 32."""
        for role in self.quantized:
            bits = self.parameters[role]["bit_width"]
            if role != "bias" and bits not in _HELD:
                yield NotInIntegers(f"bit_width {bits} of {role}: integers have 2 to 8 bits, or 16", where=place)

    def notes(self) -> Iterator[str]:
        """What of it is done otherwise."""
        yield from self.said
        for role in self.quantized:
            yield from _notes(role, self.parameters[role])


def model_scope(document: Values, quantized: tuple[Role, ...], device: str, findings: Findings) -> Scope:
    """The model's level; on a DPU activations round half up where nothing is said of theirs."""
    overall = {**DEFAULTS, **_overall(document, "", findings)}
    activation = {"round_mode": "half_up"} if (device, overall["round_mode"]) == ("dpu", "std_round") else {}
    whole_of_model = {role: {**overall, **(activation if role == "activation" else {})} for role in ROLES}
    return Scope(
        place="",
        parameters=_with_tensors(whole_of_model, document, "", findings),
        quantized=quantized,
        chosen=((ALL, ""),),
    )


def layer_scope(entry: Values, place: str, findings: Findings) -> Scope:
    """A layer's level, which has to be whole by itself."""
    own = {key: value for key, value in entry.items() if key not in TABLES}
    read = findings.values(own, _LAYER, place, TABLES)
    for key in ("quantizable_data_type", TABLES[0]):
        if key not in entry:
            findings.missing(f"{place}{key}", "a layer states all of its parameters: the key is missing")
    overall = _overall(entry, place, findings)
    for key in DEFAULTS if isinstance(entry.get(TABLES[0]), dict) else ():
        if key not in findings.table(entry, TABLES[0], place):
            findings.missing(f"{place}{TABLES[0]}.{key}", "a layer states all of its parameters: the key is missing")
    chosen, said = _chosen(read, place, findings)
    return Scope(
        place=place.rstrip("."),
        parameters=_with_tensors({role: {**DEFAULTS, **overall} for role in ROLES}, entry, place, findings),
        quantized=read.get("quantizable_data_type", ROLES),
        chosen=chosen,
        said=said,
        is_whole=DEFAULTS.keys() <= overall.keys(),
    )


def _chosen(
    read: Mapping[str, Any], place: str, findings: Findings
) -> tuple[tuple[tuple[int, str], ...], tuple[str, ...]]:
    """What a layer is chosen by: a type, or a name with the form that it has in an exported model."""
    by_type, by_name = read.get("layer_type"), read.get("layer_name")
    if by_type is not None and by_name is None:
        return tuple((LAYER_TYPE, name) for name in torch_types.operators(by_type)), ()
    if by_name is None or by_type is not None:
        findings.missing(place.rstrip("."), "a layer has a layer_type or a layer_name, and null for the other")
        return (), ()
    exported = torch_types.exported_name(by_name)
    if exported is None:
        return ((LAYER_NAME, literal(by_name)),), ()
    said = f"layer_name {by_name!r}: the layer of that name, and what torch.onnx calls {exported}"
    return ((LAYER_NAME, literal(by_name)), (LAYER_NAME, exported)), (said,)


def _overall(items: Values, place: str, findings: Findings) -> dict[str, Any]:
    return findings.values(findings.table(items, TABLES[0], place), PARAMETERS, f"{place}{TABLES[0]}.")


def _with_tensors(overall: Mapping[Role, dict[str, Any]], items: Values, place: str, findings: Findings) -> Parameters:
    """The parameters of each kind of tensor, its own before those of all."""
    tables = findings.table(items, TABLES[1], place)
    inner = f"{place}{TABLES[1]}."
    for key in tables:
        if key not in ROLES:
            findings.unknown(inner, key, ROLES)
    own = {role: findings.values(findings.table(tables, role, inner), PARAMETERS, f"{inner}{role}.") for role in ROLES}
    return {role: {**overall[role], **own[role]} for role in ROLES}


def _values(role: Role, given: Mapping[str, Any]) -> dict[str, object]:
    """Our keys for a tensor's parameters."""
    rounding: dict[str, object] = {"rounding": _ROUNDINGS[given["round_mode"]]}
    if given.get("datatype", "int") in _FLOATS:
        return {"keep_float": True}
    if role == "bias":
        return rounding
    method = _METHODS[given["method"]]
    return {
        **rounding,
        "bits": given["bit_width"],
        "method": method,
        "symmetric": given["symmetry"],
        "signed": given["signed"],
        "narrow_range": given["narrow_range"],
        "scale": "pot" if given["scale_type"] == "poweroftwo" else "float",
        **({"percentile": given["percentage"]} if "percentage" in given else {}),
        **(
            {"granularity": (given["per_channel"], 0)}
            if role == "weights"
            else {"statistic": _STATISTICS[given["calib_statistic_method"]] if method in _BY_BATCH else "all"}
        ),
    }


_BY_BATCH = ("minmax", "diffs")
"""Methods whose result a statistic over batches is taken of."""


def _notes(role: Role, given: Mapping[str, Any]) -> Iterator[str]:
    if given.get("datatype", "int") in _FLOATS[1:]:
        yield f"datatype {given['datatype']} of {role}: held as float32"
    elif role == "bias" and given["bit_width"] != 32:
        yield f"bit_width {given['bit_width']} of biases: held in 32 bits at the scale of their products"
    elif role in ("input", "activation") and _METHODS[given["method"]] not in _BY_BATCH:
        yield f"calib_statistic_method of {role}: `{given['method']}` sees all samples as one, not batch by batch"
