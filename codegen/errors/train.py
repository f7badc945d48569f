"""Refusals of what begins in PyTorch: modules that are read, trained with the chip's arithmetic and exported."""

from __future__ import annotations

from codegen.errors.base import CompileError


class ModuleNotRead(CompileError):
    """torch.onnx could not write the module, or the module itself failed on the example."""

    code = "LAM-TRAIN-001"
    hint = "the module must run on the example, without numpy and without steps that depend on numbers"


class ExampleBad(CompileError):
    """The example inputs are no tensors of real numbers with samples along the first axis."""

    code = "LAM-TRAIN-002"
    hint = "give a torch.Tensor, or a tuple of them, as the module is called with: samples along the first axis"


class ModuleMissing(CompileError):
    """What was given is no torch.nn.Module, no exported program, or no module that `prepare` has made."""

    code = "LAM-TRAIN-003"
    hint = "codegen.train.prepare(module, example) makes what is trained and exported"


class GradientUnknown(CompileError):
    """The network has an operator that is compiled, but not trained."""

    code = "LAM-TRAIN-004"
    hint = "docs/training.md lists the operators; leave this part out of what is prepared"


class RangesUnseen(CompileError):
    """Nothing is known of the tensors' ranges: no batch has been seen, or too few."""

    code = "LAM-TRAIN-005"
    hint = "call the module in training mode, or prepared.observe(batches), before it is evaluated or exported"


class TrainingDiverged(CompileError):
    """A parameter, a scale or an input is NaN or infinite."""

    code = "LAM-TRAIN-006"
    hint = "train with a smaller learning rate, or fewer changes at once (8, then 6, then 4 bits)"


class BatchFixed(CompileError):
    """The module computes the number of samples into a shape, so that it takes no other number of them."""

    code = "LAM-TRAIN-007"
    hint = "write x.flatten(1) or x.view(x.shape[0], -1) in place of a number or len(x)"


class LayerArgumentBad(CompileError):
    """A layer such as QuantConv2d has an argument that means nothing, or that goes with no other."""

    code = "LAM-TRAIN-008"
    hint = "docs/training.md lists the arguments"


class NothingTrained(CompileError):
    """Nothing in the module is quantized: it has no weights, or all of it stays float."""

    code = "LAM-TRAIN-009"
    hint = "give the whole network, and a configuration that leaves some of it to be quantized"


class InputsBad(CompileError):
    """A prepared module is called with other inputs than its example had."""

    code = "LAM-TRAIN-010"
    hint = "only the number of samples, along the first axis, may differ from the example"


class ProgramUnreadable(CompileError):
    """A .pt2 file is no program that torch.export has saved, or does not say what it is called with."""

    code = "LAM-TRAIN-011"
    hint = "write it with torch.export.save(torch.export.export(module.eval(), (x,)), path), with this version of torch"


class KerasNotRead(CompileError):
    """Keras cannot load a .keras file, or cannot export its model to ONNX."""

    code = "LAM-TRAIN-012"
    hint = "save the model with this version of Keras; layers of your own must be registered with Keras"
