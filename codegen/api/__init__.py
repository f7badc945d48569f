"""The public Python interface: one function per verb of the command line, numpy in, numpy out.

A refusal is a CompileError with a permanent id, which docs/errors.md explains; nothing is printed.  A name is loaded
when it is first asked for, and with it what its verb needs and no other.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codegen.api.functions import compare_quantized as compare_quantized
    from codegen.api.functions import compile_model as compile_model
    from codegen.api.functions import evaluate as evaluate
    from codegen.api.functions import fits as fits
    from codegen.api.functions import fits_each as fits_each
    from codegen.api.functions import inspect as inspect
    from codegen.api.functions import profile as profile
    from codegen.api.functions import quantize as quantize
    from codegen.api.functions import read_samples as read_samples
    from codegen.api.functions import run as run
    from codegen.api.functions import run_file as run_file
    from codegen.api.functions import sensitivity as sensitivity
    from codegen.api.functions import serve_report as serve_report
    from codegen.api.functions import verify as verify
    from codegen.api.functions import verify_log as verify_log
    from codegen.api.functions import write_report as write_report
    from codegen.errors import CompileError as CompileError
    from codegen.host import Network as Network
    from codegen.old_names import OldName as OldName
    from codegen.options import Options as Options
    from codegen.report.plan import PlanRecord as PlanRecord
    from codegen.report.profile import Profile as Profile
    from codegen.report.profile import ProfiledLayer as ProfiledLayer
    from codegen.report.quantized import QuantReport as QuantReport
    from codegen.report.sensitive import QuantComparison as QuantComparison
    from codegen.report.sensitive import SensitivityReport as SensitivityReport
    from codegen.report.sensitive import SensitivityRow as SensitivityRow
    from codegen.target import Target as Target
    from codegen.verbs.camera import FramesCheck as FramesCheck
    from codegen.verbs.compare import Comparison as Comparison
    from codegen.verbs.compare import TensorComparison as TensorComparison
    from codegen.verbs.compare import compare as compare
    from codegen.verbs.compile import Project as Project
    from codegen.verbs.demo import DemoResult as DemoResult
    from codegen.verbs.demo import demo as demo
    from codegen.verbs.doctor import Diagnosis as Diagnosis
    from codegen.verbs.doctor import Finding as Finding
    from codegen.verbs.doctor import doctor as doctor
    from codegen.verbs.draw import draw_plan as draw_plan
    from codegen.verbs.evaluate import EngineScore as EngineScore
    from codegen.verbs.evaluate import Evaluation as Evaluation
    from codegen.verbs.examples import CopiedExamples as CopiedExamples
    from codegen.verbs.examples import copy_examples as copy_examples
    from codegen.verbs.findings import LogFinding as LogFinding
    from codegen.verbs.fits import Fit as Fit
    from codegen.verbs.frameworks import from_torch as from_torch
    from codegen.verbs.inspection import Inspection as Inspection
    from codegen.verbs.inspection import LayerRow as LayerRow
    from codegen.verbs.inspection import Violation as Violation
    from codegen.verbs.link import Linked as Linked
    from codegen.verbs.link import LinkedMemory as LinkedMemory
    from codegen.verbs.link import LinkedNetwork as LinkedNetwork
    from codegen.verbs.link import link as link
    from codegen.verbs.load import load as load
    from codegen.verbs.plugin_test import LawCheck as LawCheck
    from codegen.verbs.plugin_test import PluginCheck as PluginCheck
    from codegen.verbs.plugin_test import check_plugin as check_plugin
    from codegen.verbs.postprocess import FoundCheck as FoundCheck
    from codegen.verbs.quantize import Quantized as Quantized
    from codegen.verbs.reference import ReferenceCheck as ReferenceCheck
    from codegen.verbs.report import Grade as Grade
    from codegen.verbs.report import Report as Report
    from codegen.verbs.report import Step as Step
    from codegen.verbs.run import save_arrays as save_arrays
    from codegen.verbs.targets import describe_target as describe_target
    from codegen.verbs.targets import targets as targets
    from codegen.verbs.verify import TensorCheck as TensorCheck
    from codegen.verbs.verify import VerifyResult as VerifyResult
    from codegen.verbs.verify_log import LogCheck as LogCheck

_HOMES = {
    "Comparison": "codegen.verbs.compare",
    "CompileError": "codegen.errors",
    "CopiedExamples": "codegen.verbs.examples",
    "DemoResult": "codegen.verbs.demo",
    "Diagnosis": "codegen.verbs.doctor",
    "EngineScore": "codegen.verbs.evaluate",
    "Evaluation": "codegen.verbs.evaluate",
    "Finding": "codegen.verbs.doctor",
    "Fit": "codegen.verbs.fits",
    "FramesCheck": "codegen.verbs.camera",
    "FoundCheck": "codegen.verbs.postprocess",
    "Grade": "codegen.verbs.report",
    "Inspection": "codegen.verbs.inspection",
    "LayerRow": "codegen.verbs.inspection",
    "LawCheck": "codegen.verbs.plugin_test",
    "Linked": "codegen.verbs.link",
    "LinkedMemory": "codegen.verbs.link",
    "LinkedNetwork": "codegen.verbs.link",
    "LogCheck": "codegen.verbs.verify_log",
    "LogFinding": "codegen.verbs.findings",
    "Network": "codegen.host",
    "OldName": "codegen.old_names",
    "Options": "codegen.options",
    "PluginCheck": "codegen.verbs.plugin_test",
    "PlanRecord": "codegen.report.plan",
    "Profile": "codegen.report.profile",
    "ProfiledLayer": "codegen.report.profile",
    "Project": "codegen.verbs.compile",
    "QuantComparison": "codegen.report.sensitive",
    "QuantReport": "codegen.report.quantized",
    "Quantized": "codegen.verbs.quantize",
    "ReferenceCheck": "codegen.verbs.reference",
    "Report": "codegen.verbs.report",
    "SensitivityReport": "codegen.report.sensitive",
    "SensitivityRow": "codegen.report.sensitive",
    "Step": "codegen.verbs.report",
    "Target": "codegen.target",
    "TensorCheck": "codegen.verbs.verify",
    "TensorComparison": "codegen.verbs.compare",
    "VerifyResult": "codegen.verbs.verify",
    "Violation": "codegen.verbs.inspection",
    "check_plugin": "codegen.verbs.plugin_test",
    "compare": "codegen.verbs.compare",
    "compare_quantized": "codegen.api.functions",
    "compile_model": "codegen.api.functions",
    "copy_examples": "codegen.verbs.examples",
    "demo": "codegen.verbs.demo",
    "describe_target": "codegen.verbs.targets",
    "doctor": "codegen.verbs.doctor",
    "draw_plan": "codegen.verbs.draw",
    "evaluate": "codegen.api.functions",
    "fits": "codegen.api.functions",
    "fits_each": "codegen.api.functions",
    "from_torch": "codegen.verbs.frameworks",
    "inspect": "codegen.api.functions",
    "link": "codegen.verbs.link",
    "load": "codegen.verbs.load",
    "profile": "codegen.api.functions",
    "quantize": "codegen.api.functions",
    "read_samples": "codegen.api.functions",
    "run": "codegen.api.functions",
    "run_file": "codegen.api.functions",
    "save_arrays": "codegen.verbs.run",
    "sensitivity": "codegen.api.functions",
    "serve_report": "codegen.api.functions",
    "targets": "codegen.verbs.targets",
    "verify": "codegen.api.functions",
    "verify_log": "codegen.api.functions",
    "write_report": "codegen.api.functions",
}
"""Each public name, and the module that defines it."""

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """A public name, out of its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
