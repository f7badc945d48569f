"""What public functions are given: samples, and whom they tell of their progress.

Stands apart from the verbs that take it, so that a function can say what it takes without loading them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from codegen.ir.quant import Array

Sample = dict[str, Array]
"""One array per input, by name."""
Progress = Callable[[int, int], None]
"""Called with the number of samples done and the number of all."""
Calibration = str | Path | Array | Mapping[str, Array] | Sequence[Mapping[str, Array]] | Iterator[Mapping[str, Array]]
"""A data file, one array of samples, arrays of samples by input, or samples one by one."""
DataGiven = str | Path | Mapping[str, Array]
"""A file of arrays, a sound, a folder or a list of pictures or sounds, or arrays by name."""
