"""The public Python interface: one function per verb of the command line, numpy in, numpy out.

A refusal is a CompileError with a permanent id, which docs/errors.md explains; nothing is printed.
"""

from __future__ import annotations

from codegen.errors import CompileError
from codegen.host import Network
from codegen.report.plan import PlanRecord
from codegen.report.profile import Profile, ProfiledLayer
from codegen.target import Target
from codegen.verbs.compare import Comparison, TensorComparison, compare
from codegen.verbs.compile import Project, compile_model
from codegen.verbs.demo import DemoResult, demo
from codegen.verbs.doctor import Diagnosis, Finding, doctor
from codegen.verbs.draw import draw_plan
from codegen.verbs.evaluate import EngineScore, Evaluation, evaluate
from codegen.verbs.inspect import inspect
from codegen.verbs.inspection import Inspection, LayerRow, Violation
from codegen.verbs.load import load
from codegen.verbs.profile import profile
from codegen.verbs.reference import ReferenceCheck
from codegen.verbs.run import run, run_file, save_arrays
from codegen.verbs.samples import read_samples
from codegen.verbs.targets import describe_target, targets
from codegen.verbs.verify import TensorCheck, VerifyResult, verify

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
    "PlanRecord",
    "Profile",
    "ProfiledLayer",
    "Project",
    "ReferenceCheck",
    "Target",
    "TensorCheck",
    "TensorComparison",
    "VerifyResult",
    "Violation",
    "compare",
    "compile_model",
    "demo",
    "describe_target",
    "doctor",
    "draw_plan",
    "evaluate",
    "inspect",
    "load",
    "profile",
    "read_samples",
    "run",
    "run_file",
    "save_arrays",
    "targets",
    "verify",
]
