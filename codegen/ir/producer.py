"""Who makes the rows that a call reads: nobody any more, the caller of the network, or a call of the same group."""

from __future__ import annotations

from codegen.records import record


@record
class Ready:
    """The tensor is there before the group runs."""


@record
class Streamed:
    """The network's input, whose rows are pushed while the group runs."""


@record
class Step:
    """The call of this number in the group."""

    call: int


Producer = Ready | Streamed | Step
READY, STREAMED = Ready(), Streamed()
