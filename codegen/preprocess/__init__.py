"""Data files and what makes their samples a model's inputs: one Preprocess object for every verb that reads data."""

from codegen.preprocess.config import load_preprocess, parse_preprocess
from codegen.preprocess.given import Given, Wanted
from codegen.preprocess.npz import need, read_npz, write_npz
from codegen.preprocess.placing import Placing
from codegen.preprocess.plausible import FEW, check_fed, check_given
from codegen.preprocess.readers import Data, DataGiven, gathered, read_data, stack, stacked
from codegen.preprocess.steps import COLORS, Preprocess, decode_jpeg, jpeg_slices
from codegen.preprocess.weights import with_weights

__all__ = [
    "COLORS",
    "FEW",
    "Data",
    "DataGiven",
    "Given",
    "Placing",
    "Preprocess",
    "Wanted",
    "check_fed",
    "check_given",
    "decode_jpeg",
    "gathered",
    "jpeg_slices",
    "load_preprocess",
    "need",
    "parse_preprocess",
    "read_data",
    "read_npz",
    "stack",
    "stacked",
    "with_weights",
    "write_npz",
]
