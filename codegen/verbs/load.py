"""load: a generated project as a Python object."""

from __future__ import annotations

from pathlib import Path

from codegen.host import Network
from codegen.verbs.compile import Project


def load(project: Project | str | Path) -> Network:
    """Build the project with the host's compiler and bind it; LAM-HOST-001 when the folder is no project.

    The Network is a context manager; `close()` unloads it.
    """
    return Network(project.path if isinstance(project, Project) else Path(project))
