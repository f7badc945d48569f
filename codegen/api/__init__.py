"""The public Python interface: one function per verb of the command line, numpy in, numpy out.

A refusal is a CompileError with a permanent id, which docs/errors.md explains; nothing is printed.
"""

from __future__ import annotations

from codegen.api.functions import (
    compare_quantized,
    compile_model,
    evaluate,
    inspect,
    profile,
    quantize,
    read_samples,
    run,
    run_file,
    sensitivity,
    verify,
)
from codegen.errors import CompileError
from codegen.host import Network
from codegen.old_names import OldName
from codegen.options import Options
from codegen.report.plan import PlanRecord
from codegen.report.profile import Profile, ProfiledLayer
from codegen.report.quantized import QuantReport
from codegen.report.sensitive import QuantComparison, SensitivityReport, SensitivityRow
from codegen.target import Target
from codegen.verbs.compare import Comparison, TensorComparison, compare
from codegen.verbs.compile import Project
from codegen.verbs.demo import DemoResult, demo
from codegen.verbs.doctor import Diagnosis, Finding, doctor
from codegen.verbs.draw import draw_plan
from codegen.verbs.evaluate import EngineScore, Evaluation
from codegen.verbs.inspection import Inspection, LayerRow, Violation
from codegen.verbs.load import load
from codegen.verbs.quantize import Quantized
from codegen.verbs.reference import ReferenceCheck
from codegen.verbs.run import save_arrays
from codegen.verbs.targets import describe_target, targets
from codegen.verbs.verify import TensorCheck, VerifyResult

__all__ = [
    "Comparison",
    "CompileError",
    "DemoResult",
    "Diagnosis",
    "EngineScore",
    "Evaluation",
    "Finding",
    "Inspection",
    "LayerRow",
    "Network",
    "OldName",
    "Options",
    "PlanRecord",
    "Profile",
    "ProfiledLayer",
    "Project",
    "QuantComparison",
    "QuantReport",
    "Quantized",
    "ReferenceCheck",
    "SensitivityReport",
    "SensitivityRow",
    "Target",
    "TensorCheck",
    "TensorComparison",
    "VerifyResult",
    "Violation",
    "compare",
    "compare_quantized",
    "compile_model",
    "demo",
    "describe_target",
    "doctor",
    "draw_plan",
    "evaluate",
    "inspect",
    "load",
    "profile",
    "quantize",
    "read_samples",
    "run",
    "run_file",
    "save_arrays",
    "sensitivity",
    "targets",
    "verify",
]
