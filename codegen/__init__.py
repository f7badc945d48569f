"""Lamina: neural networks to C99 for small chips.  The public names; `codegen.api` says what they do.

Names are loaded when they are first used, so that the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from codegen.resources import VERSION as __version__

if TYPE_CHECKING:
    from codegen.api import (
        CompileError,
        Network,
        Options,
        Project,
        Target,
        check_plugin,
        compare,
        compile_model,
        copy_examples,
        demo,
        describe_target,
        doctor,
        draw_plan,
        evaluate,
        fits,
        fits_each,
        from_torch,
        inspect,
        link,
        load,
        profile,
        quantize,
        run,
        run_file,
        sensitivity,
        serve_report,
        targets,
        verify,
        write_report,
    )

__all__ = [
    "CompileError",
    "Network",
    "Options",
    "Project",
    "Target",
    "__version__",
    "check_plugin",
    "compare",
    "compile_model",
    "copy_examples",
    "demo",
    "describe_target",
    "doctor",
    "draw_plan",
    "evaluate",
    "fits",
    "fits_each",
    "from_torch",
    "inspect",
    "link",
    "load",
    "profile",
    "quantize",
    "run",
    "run_file",
    "sensitivity",
    "serve_report",
    "targets",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> object:
    """A public name, out of codegen.api."""
    if name in __all__:
        return getattr(importlib.import_module("codegen.api"), name)
    raise AttributeError(f"module 'codegen' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
