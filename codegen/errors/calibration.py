"""Refusals of calibration: float models and the samples that they are quantized by."""

from __future__ import annotations

from codegen.errors.base import CompileError


class AlreadyQuantized(CompileError):
    """A model that is quantized already is to be quantized."""

    code = "LAM-QUANT-020"
    hint = "give the float model that it was made from"


class NothingToQuantize(CompileError):
    """A model computes no real numbers."""

    code = "LAM-QUANT-021"
    hint = "only networks on real numbers can be quantized"


class CalibrationNotFinite(CompileError):
    """A calibration sample holds NaN or infinity, or the network makes one of it."""

    code = "LAM-QUANT-022"
    hint = "take the sample out, or mend the model where the message says"


class CalibrationConstant(CompileError):
    """The calibration samples are one and the same number everywhere."""

    code = "LAM-QUANT-023"
    hint = "give samples of what the network will see, 100 or more"


class TensorUnknown(CompileError):
    """A tensor or a node is named that the model does not have."""

    code = "LAM-QUANT-024"
    hint = "give a name that the model has: `lamina inspect MODEL` prints them"


class StateNotWritten(CompileError):
    """A network that keeps something between runs is to be written as ONNX."""

    code = "LAM-QUANT-025"
    hint = "export the network with its states as inputs and outputs"


class ModelNotWritten(CompileError):
    """The quantized model, or the report beside it, cannot be written; nothing is left behind."""

    code = "LAM-QUANT-026"
    hint = "check the path, permissions and free space"


class NothingInCommon(CompileError):
    """A quantized model has no tensor of the float model that it is compared with, by name."""

    code = "LAM-QUANT-027"
    hint = "give the float model that it was made from; tools that rename tensors cannot be followed"


class BudgetUnreachable(CompileError):
    """Not even with the fewest bits for every layer does the network keep within the budget, or the chip's memories."""

    code = "LAM-QUANT-028"
    hint = "raise the budget, allow fewer bits, or choose a larger chip"


class RecurrenceNotSpelled(CompileError):
    """An LSTM, GRU or RNN cannot be written as products and functions, step by step, which is what integers have."""

    code = "LAM-QUANT-029"
    hint = (
        "export it with fewer steps and its states as inputs and outputs, without sequence_lens, with constant weights"
        " and the usual functions; or leave it float with --keep-float"
    )


class StateUnfit(CompileError):
    """An input that is said to be a state, or the output that it becomes, is none, or they are not alike."""

    code = "LAM-QUANT-030"
    hint = '`lamina inspect MODEL` prints inputs and outputs; write states = { input = "output" }'
