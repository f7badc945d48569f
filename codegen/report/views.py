"""What a notebook shows of a plan, a profile and a quantization: the figures that the terminal has too."""

from __future__ import annotations

from codegen.report.columns import Size
from codegen.report.fragments import Table, fragment, sized
from codegen.report.plan import PlanRecord
from codegen.report.profile import Profile, ProfiledLayer
from codegen.report.quantized import QuantReport

_PERCENT = 100


def plan_view(plan: PlanRecord) -> str:
    """Memory over time, groups, tensors, and the plans to choose from."""
    figures = [
        ("arena", Size(plan.arena_bytes)),
        ("lower bound", Size(plan.lower_bound_bytes)),
        ("most in use", f"{Size(plan.peak.live_bytes)} in group {plan.peak.group} ({plan.peak.title})"),
        ("streamed input", plan.streamed or None),
        ("input outside", plan.outside or None),
        ("recomputed MACs", plan.recomputed_macs or None),
    ]
    groups = [(g.index, g.title, Size(g.live_bytes), g.kernel_calls, Size(g.weights_read_bytes)) for g in plan.groups]
    tensors = [
        (t.tensor or "scratch", t.layer, t.kind, t.offset, t.bytes, f"{t.first_group} to {t.last_group}")
        for t in plan.tensors
    ]
    front = [(Size(f.peak_bytes), round(f.time), f.groups, "this one" if f.chosen else "") for f in plan.front]
    tables = (
        Table("Groups", ("group", "layers", "live", "kernel calls", "weights read"), groups),
        Table("Tensors", ("tensor", "made by", "kind", "offset", "bytes", "groups"), tensors),
        Table("Memory or time", ("live memory", "time", "groups", "taken"), front),
    )
    return fragment("Memory plan", figures, tables, plan)


def profile_view(profile: Profile) -> str:
    """What each layer takes, and the whole."""
    counted = profile.instructions is not None
    what = "instructions" if counted else "microseconds"
    whole = getattr(profile, what) or 0
    figures = [
        (what, getattr(profile, what)),
        ("about cycles", profile.cycles),
        ("arena", Size(profile.arena_bytes)),
        ("weights", Size(profile.weights_bytes)),
        ("stack", sized(profile.stack_bytes)),
        ("compiler", profile.flags),
    ]
    rows = [_profiled(x, whole, what) for x in profile.layers]
    heads = ("layer", "operator", "kernel", "MACs", "calls", what, "%")
    return fragment(f"{profile.model} on {profile.target}", figures, (Table("Layers", heads, rows),))


def _profiled(layer: ProfiledLayer, whole: float, what: str) -> tuple[object, ...]:
    spent = getattr(layer, what)
    share = _PERCENT * spent / whole if spent is not None and whole else None
    return layer.name, layer.operator, layer.kernel, layer.macs, layer.calls, spent, share


def quantized_view(report: QuantReport) -> str:
    """Every tensor and every weight with its integers, and how good the network is."""
    figures = [
        ("SQNR of the outputs, dB", report.sqnr if report.sqnr is not None else report.quick_sqnr),
        (f"{report.scored.metric} of {report.scored.samples} samples, %", _PERCENT * report.scored.score)
        if report.scored
        else ("", None),
        ("samples that set ranges", report.samples),
        ("it does not compile", report.refusal or None),
        ("stays float", ", ".join(report.stay_float) or None),
    ]
    tensors = [
        (t.tensor, t.operator, t.bits, t.low, t.high, t.sqnr, _PERCENT * t.clipped, _PERCENT * t.codes, t.method)
        for t in report.tensors
    ]
    weights = [(w.tensor, w.operator, w.role, w.bits, w.scales, w.sqnr, w.method) for w in report.weights]
    tables = (
        Table(
            "Tensors", ("tensor", "operator", "bits", "low", "high", "SQNR dB", "clipped %", "codes %", "by"), tensors
        ),
        Table("Constants", ("constant", "operator", "role", "bits", "scales", "SQNR dB", "by"), weights),
        Table("Notes", ("note",), [(note,) for note in report.notes]),
    )
    return fragment(f"{report.model}, quantized", figures, tables)
