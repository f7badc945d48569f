"""What may be asked of the quantizer: by what a model is quantized, how, and where the result goes.

Decides: that words go over the configuration, and the configuration over a table of ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from codegen.datafiles import path_given
from codegen.errors import OptionBad
from codegen.quantizer.asked import Asked, asked_of, from_words
from codegen.quantizer.attempts import RecipeName
from codegen.quantizer.config import QuantConfig
from codegen.quantizer.foreign.load import load_config
from codegen.quantizer.observe import Progress
from codegen.quantizer.places import Places
from codegen.records import record
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.calibration import Calibration
from codegen.verbs.kinds import DataGiven, Sample
from codegen.verbs.mixing import MIXED
from codegen.verbs.quantizer_files import files_config

STAGES = ("inspect", "rewrite", "calibrate")
"""Stages behind which one may stop."""
_ALL_POINTS = 100
_OTHER_FORMATS = (".tflite", ".prototxt", ".caffemodel", ".pt", ".pth", ".pb", ".h5", ".keras", ".toml")
"""Endings of files that a quantized model would not be."""


@record(kw_only=True, eq=False)
class Quantizing:
    """By what a model is quantized, and how.

    `calib` are a data file, arrays by name, one array, or samples, made up where there are none; `config` is the TOML
    file with the `[preprocess]` table and those of the quantizer, or another tool's configuration; it goes over
    `table_in`, a table of ranges, and the words here go over both.  `out` is where model and report go, `table_out`
    where the ranges; `toolkit` is with what the model is read and judged.
    """

    calib: Calibration | None = None
    out: str | Path | None = None
    config: str | Path | None = None
    weights: int | str | None = None
    activations: int | str | None = None
    scales: str | None = None
    granularity: str | None = None
    samples: int | None = None
    seed: int | None = None
    table_in: str | Path | None = None
    table_out: str | Path | None = None
    keep_float: Sequence[str] = ()
    recipe: RecipeName | None = None
    budget: str | Mapping[str, int] | None = None
    stop_after: str | None = None
    eval_data: DataGiven | Iterable[Sample] | None = None
    metric: str | None = None
    max_drop: float | None = None
    scheduler: str | None = None
    progress: Progress | None = None
    toolkit: Toolkit = HOUSE

    def __post_init__(self) -> None:
        """Refuse what does not exist, and what would do nothing."""
        self._check_words()
        self._check_heard()

    def _check_heard(self) -> None:
        """Refuse what nothing would be done with: LAM-IMPORT-030."""
        writes = self.stop_after in (None, "rewrite")
        if self.metric is not None and self.eval_data is None:
            raise OptionBad(self.metric, where="metric", hint="give the labelled samples too: --eval D.npz")
        if self.out is not None and not writes:
            hint = f"behind {self.stop_after} there is no model yet: leave out -o, or say --stop-after rewrite"
            raise OptionBad(f"{self.out}", where="out", hint=hint)
        if self.table_out is not None and self.stop_after in ("inspect", "rewrite"):
            hint = f"behind {self.stop_after} there are no ranges yet: say --stop-after calibrate, or leave it out"
            raise OptionBad(f"{self.table_out}", where="table_out", hint=hint)
        if self.out is not None and Path(self.out).suffix.lower() in _OTHER_FORMATS:
            raise OptionBad(f"{self.out}", where="out", hint="what is written is an ONNX file: name it so, as Q.onnx")

    def _check_words(self) -> None:
        if self.max_drop is not None and self.eval_data is None:
            raise OptionBad(f"{self.max_drop:g}", where="max_drop", hint="give the labelled samples too: --eval D.npz")
        if self.max_drop is not None and not 0 <= self.max_drop <= _ALL_POINTS:
            raise OptionBad(f"{self.max_drop:g}", where="max_drop", hint="give points between 0 and 100")
        for name, given, known in (
            ("weights", self.weights, (None, *range(2, 9), MIXED)),
            ("activations", self.activations, (None, 8, 16, MIXED)),
            ("scales", self.scales, (None, "float", "pot")),
            ("granularity", self.granularity, (None, "channel", "tensor")),
            ("recipe", self.recipe, (None, *get_args(RecipeName))),
            ("stop_after", self.stop_after, (None, *STAGES)),
        ):
            if given not in known:
                choices = ", ".join(str(k) for k in known if k is not None)
                raise OptionBad(f"{given!r}", where=name, hint=f"choose one of {choices}")
        if self.seed is not None and self.seed < 0:
            raise OptionBad(f"{self.seed}", where="seed", hint="give a whole number of 0 or more")


def asking_of(places: Places, how: Quantizing) -> Asked:
    """What the command line says, over what the configuration says, over a table of ranges."""
    words = from_words(
        {
            "weights": None if how.weights == MIXED else how.weights,
            "activations": None if how.activations == MIXED else how.activations,
            "scale": how.scales,
            "granularity": how.granularity,
        }
    )
    config = None if how.config is None else path_given(how.config, "config")
    table = None if how.table_in is None else path_given(how.table_in, "table_in")
    return asked_of(words.over(files_config(places.graph, config, table)), places)


def sampled(how: Quantizing) -> Quantizing:
    """The same with what the configuration says of samples, seed and score, where the call says nothing."""
    config = QuantConfig() if how.config is None else load_config(path_given(how.config, "config"))
    return replace(
        how,
        samples=config.general.samples if how.samples is None else how.samples,
        seed=(config.general.seed or 0) if how.seed is None else how.seed,
        max_drop=config.mixed.max_drop if how.max_drop is None else how.max_drop,
    )
