"""A tensor of a network that is being built, and what its nodes are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.records import record

if TYPE_CHECKING:
    from codegen.build.net import Net


@record
class Label:
    """What a node is called in messages and comments: as in RealNode."""

    name: str
    op_type: str
    tensor: str = ""
    part: bool = False


@record(eq=False)
class Tensor:
    """What a call returns, and others take.  `name` is that of its value."""

    net: Net
    name: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return self.net.type(self).shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return self.net.type(self).dtype

    def __repr__(self) -> str:
        return f"Tensor({self.name!r}, {list(self.shape)}, {self.dtype})"
