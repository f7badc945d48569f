"""The verbs of the command line as functions: one file per verb, frozen records in return, nothing printed.

`verbs.NAME` is a verb's module, loaded when it is first asked for: compiling loads no quantizer, and measures no stack
unasked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codegen.verbs import beside as beside
    from codegen.verbs import camera as camera
    from codegen.verbs import compile as compile
    from codegen.verbs import evaluate as evaluate
    from codegen.verbs import fits as fits
    from codegen.verbs import inspect as inspect
    from codegen.verbs import on_the_way as on_the_way
    from codegen.verbs import postprocess as postprocess
    from codegen.verbs import profile as profile
    from codegen.verbs import quantize as quantize
    from codegen.verbs import quantizing as quantizing
    from codegen.verbs import report as report
    from codegen.verbs import run as run
    from codegen.verbs import samples as samples
    from codegen.verbs import sensitivity as sensitivity
    from codegen.verbs import stack as stack
    from codegen.verbs import verify as verify
    from codegen.verbs import verify_log as verify_log
else:
    import importlib
    import importlib.util

    def __getattr__(name: str) -> object:
        """A verb's module."""
        if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return importlib.import_module(f"{__name__}.{name}")
