"""report: everything that is known of a network on chips, as one page that opens from a disk, or is served."""

from codegen.verbs.report.changes import Change
from codegen.verbs.report.content import Looking, Report, report
from codegen.verbs.report.serve import Serving, serve

__all__ = ["Change", "Looking", "Report", "Serving", "report", "serve"]
