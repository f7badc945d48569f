"""Refusals of whole families: what no network of fixed tensors, computed to the bit, can be made of."""

from __future__ import annotations

from typing import ClassVar, Self

from codegen.errors.base import CompileError
from codegen.errors.model import FormUnsupported, OperatorUnknown, ParameterDynamic, TypeUnsupported


class _Family(CompileError):
    reason: ClassVar[str]
    """The family, and why it is refused."""

    @classmethod
    def of(cls, subject: str, where: str) -> Self:
        """What was found, as an error to raise."""
        return cls(f"{subject}: {cls.reason}", where=where)


class StringsUnsupported(_Family, TypeUnsupported):
    """The model works on strings, whose lengths only its data say: a network here has tensors of fixed size."""

    code = "LAM-IMPORT-070"
    reason = "strings have no fixed size, and networks here have tensors of fixed size"
    hint = "let the firmware turn strings into numbers, and begin the network behind that"


class NotATensor(_Family, TypeUnsupported):
    """The model has sequences, optionals or maps, of which only its data say how many tensors there are."""

    code = "LAM-IMPORT-071"
    reason = "sequences, optionals and maps hold as many tensors as the data say, and networks here have a fixed number"
    hint = "export what is in it as inputs and outputs of their own: a network here has tensors of fixed size"


class NumbersUnsupported(_Family, TypeUnsupported):
    """The model computes with float8, float4 or complex numbers; the golden model and the C have float32."""

    code = "LAM-IMPORT-072"
    reason = "the golden model and the C have no arithmetic of these numbers, but of float32"
    hint = "export the model in float32, float16 or bfloat16; `--float-weights s8` stores float32 weights in 8 bits"


class RandomUnsupported(_Family, OperatorUnknown):
    """An operator draws random numbers: no golden model could say what the C has to give."""

    code = "LAM-IMPORT-073"
    reason = "random numbers have no value that the golden model could say and the C equal"
    hint = "make the random numbers an input of the network, or leave them out, as inference mostly does"


class ImageFilesUnsupported(_Family, OperatorUnknown):
    """An operator decodes the files of pictures, whose sizes only the data say."""

    code = "LAM-IMPORT-074"
    reason = "files of pictures have sizes that only the data say, and are decoded outside the network"
    hint = "decode pictures before the network, and give it the pixels: docs/preprocess.md"


class TrainingUnsupported(_Family, OperatorUnknown):
    """An operator is of training (gradients, optimizers, statistics that change); networks here only infer."""

    code = "LAM-IMPORT-075"
    reason = "gradients and optimizers are of training, and networks here only infer"
    hint = "export the model for inference (in PyTorch: model.eval()); docs/training.md trains with its integers"


class TrainingForm(_Family, FormUnsupported):
    """An operator of inference stands in its form for training, whose results are random or change from run to run."""

    code = "LAM-IMPORT-076"
    reason = "a form for training, and networks here only infer"
    hint = "export the model for inference (in PyTorch: model.eval()): training_mode and is_test say which form it is"


class ControlUnresolved(_Family, ParameterDynamic):
    """If, Loop or Scan whose branch or number of steps only the data say, so that no plan of memory and time is."""

    code = "LAM-IMPORT-077"
    reason = "control flow that only the data decide has no plan of memory and time"
    hint = "make the condition or the number of steps a constant, or let the firmware decide between two networks"
