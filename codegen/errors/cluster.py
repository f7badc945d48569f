"""Refusals of work that is handed to other processes and machines."""

from __future__ import annotations

from codegen.errors.base import CompileError


class SchedulerBad(CompileError):
    """What is to share the work is neither processes of this machine nor the address of a Dask scheduler."""

    code = "LAM-CLUSTER-001"
    is_usage = True
    hint = "write local, local:4 or tcp://HOST:PORT; docs/cluster.md"


class ClusterLost(CompileError):
    """The scheduler does not answer, its workers are gone, or a piece of work has ended several workers."""

    code = "LAM-CLUSTER-002"
    hint = "see what the scheduler and its workers say, or leave out --scheduler: docs/cluster.md"
