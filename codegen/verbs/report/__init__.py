"""report: everything that is known of a network on chips, as one page that opens from a disk."""

from codegen.verbs.report.content import Change, Looking, Report, report

__all__ = ["Change", "Looking", "Report", "report"]
