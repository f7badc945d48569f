"""load: a generated project as a Python object."""

from __future__ import annotations

from pathlib import Path

from codegen.arguments import takes_declared
from codegen.datafiles import path_given
from codegen.host import Network
from codegen.verbs.compile import Project


@takes_declared
def load(project: Project | str | Path) -> Network:
    """Build the project with the host's compiler and bind it; LAM-HOST-001 when the folder is no project.

    The Network is a context manager; `close()` unloads it.
    """
    return Network(project.path if isinstance(project, Project) else path_given(project, "project"))
