"""Chips: what the compiler knows of one, and how its file, its core's and its board's are read."""

from codegen.target.chip import (
    BESIDE,
    BYTE_ORDERS,
    DTYPES,
    FEATURES,
    ISA_LEVELS,
    OF_SINGLE,
    OFFERED,
    REQUANT_MODES,
    Board,
    Cycles,
    Dma,
    Memory,
    Target,
    Toolchain,
    Weights,
    plain_level,
)
from codegen.target.compose import find_chip
from codegen.target.parts import Accelerator, Clock, KernelRates, Rates, Rule, Speed
from codegen.target.read import list_targets, load_target

__all__ = [
    "BESIDE",
    "BYTE_ORDERS",
    "DTYPES",
    "FEATURES",
    "ISA_LEVELS",
    "OFFERED",
    "OF_SINGLE",
    "REQUANT_MODES",
    "Accelerator",
    "Board",
    "Clock",
    "Cycles",
    "Dma",
    "KernelRates",
    "Memory",
    "Rates",
    "Rule",
    "Speed",
    "Target",
    "Toolchain",
    "Weights",
    "find_chip",
    "list_targets",
    "load_target",
    "plain_level",
]
