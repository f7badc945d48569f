"""The range of real numbers that one tensor's integers hold, by each of the methods of `Spec`.

Decides: every range holds zero.  A symmetric one is (-t, t), and of numbers without a sign (0, t) where the integers
have none either.  Methods that place one threshold on |x| cut an asymmetric range there on both sides, and never extend
it beyond the numbers that were seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from codegen.quantizer.ranges.divergence import entropy
from codegen.quantizer.ranges.error import diffs, mix, mse
from codegen.quantizer.ranges.extent import fixed, minmax, moving_average, percentile
from codegen.quantizer.ranges.priors import aciq_gauss, aciq_laplace, octav
from codegen.quantizer.ranges.storing import exponent_for, stored_for
from codegen.quantizer.spec import Method, Spec
from codegen.quantizer.statistics import Statistics

__all__ = ["METHODS", "exponent_for", "range_of", "stored_for"]

METHODS: Mapping[Method, Callable[[Statistics, Spec], tuple[float, float]]] = {
    "minmax": minmax,
    "moving_average": moving_average,
    "percentile": percentile,
    "entropy": entropy,
    "mse": mse,
    "diffs": diffs,
    "octav": octav,
    "aciq_gauss": aciq_gauss,
    "aciq_laplace": aciq_laplace,
    "mix": mix,
    "fixed": fixed,
}


def range_of(statistics: Statistics, spec: Spec) -> tuple[float, float]:
    """The least and the greatest real number, by the method that is asked for, looked for once."""
    if spec not in statistics.ranges:
        statistics.ranges[spec] = METHODS[spec.method](statistics, spec)
    return statistics.ranges[spec]
