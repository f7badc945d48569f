"""Which requantization mode a quantized network is made for.

Decides: that a network of powers of two is made for shifts, with the rounding that activations were given.
"""

from __future__ import annotations

import numpy as np

from codegen.fixedpoint import is_power_of_two
from codegen.ir.quant import ALL_MODES, Mode
from codegen.ir.real import RealGraph
from codegen.quantizer.applied import stored_of
from codegen.quantizer.config import QuantConfig


def arithmetic_of(made: RealGraph, config: QuantConfig) -> tuple[Mode | None, tuple[str, ...]]:
    """The requantization mode that a network is made for, and a word where a rounding was asked for in vain.

    Powers of two throughout are for shifts, rounded as the configuration says of all activations, else half up.
    """
    held = [*(v.stored for v in made.values.values()), *stored_of(made).values()]
    scales = [np.ravel(s.scale) for s in held if s is not None]
    asked = any("rounding" in level.values and level.role in ("input", "activation") for level in config.levels)
    if not scales or not is_power_of_two(np.concatenate(scales)).all():
        word = "what is computed is rounded as the requantization mode (`lamina compile --requant`) rounds"
        return None, (word,) if asked else ()
    rounding = config.spec("activation").rounding if config.says("rounding", "activation") else "half_up"
    named = "pot" if rounding == "half_up" else f"pot_{rounding}"
    return next(mode for mode in ALL_MODES if mode == named), ()
