"""report: everything that is known of a network on chips, as one page that opens from a disk, or is served."""

from codegen.verbs.report.changes import Change
from codegen.verbs.report.content import Looking, Report, report
from codegen.verbs.report.grade import Grade
from codegen.verbs.report.serve import Serving, serve
from codegen.verbs.report.steps import Step

__all__ = ["Change", "Grade", "Looking", "Report", "Serving", "Step", "report", "serve"]
