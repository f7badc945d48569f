"""Networks from Python calls (docs/build.md): the same RealGraph that a model's file becomes."""

from codegen.build.net import Net
from codegen.build.operators import real_operators
from codegen.build.tensor import Label, Tensor
from codegen.ir.real import Stored
from codegen.ir.shape import Window

__all__ = ["Label", "Net", "Stored", "Tensor", "Window", "real_operators"]
