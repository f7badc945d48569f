"""Plan to Program: calls of kernel functions on addressed rows."""

from codegen.lower.local import lower_local
from codegen.lower.lower import lower

__all__ = ["lower", "lower_local"]
