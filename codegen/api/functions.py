"""The public functions of the verbs that look at a model: what they take, and what may be said by keyword.

Each takes `options`, an `Options`, and every field of it as a keyword besides, which goes before.  A model is a file's
path, its bytes, an open file, or an onnx.ModelProto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from codegen import verbs
from codegen.api.words import (
    BesideWords,
    CheckingWords,
    DumpingWords,
    FeedingWords,
    FittingWords,
    JudgingWords,
    MeasuringWords,
    OptionWords,
    PlainWords,
    QuantizingWords,
    ReportWords,
    RunningWords,
    ToolWords,
    WritingWords,
    joined,
    options_of,
    parted,
    with_plugins,
)
from codegen.arguments import takes_declared
from codegen.ir.quant import Array
from codegen.options import By, ShapesGiven
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.kinds import Calibration, DataGiven, Sample
from codegen.verbs.sources import ModelSource

if TYPE_CHECKING:
    from codegen.report.profile import Profile
    from codegen.report.sensitive import QuantComparison, SensitivityReport
    from codegen.verbs.compile import Project
    from codegen.verbs.evaluate import Evaluation
    from codegen.verbs.fits import Fit
    from codegen.verbs.inspection import Inspection
    from codegen.verbs.quantize import Quantized
    from codegen.verbs.report import Report
    from codegen.verbs.verify import VerifyResult
    from codegen.verbs.verify_log import LogCheck


@takes_declared
def compile_model(
    model: ModelSource, target: str | None = None, out: str | Path = "lamina-out", **words: Unpack[WritingWords]
) -> Project:
    """The C project of `model` stands at `out`, whole, or CompileError is raised and `out` is as it was.

    Args:
        model: an ONNX or TFLite file, quantized or float: its path, its bytes, the open file, or an onnx.ModelProto.
        target: a name that `targets()` lists, or the path of a .toml file; `host` when None.
        out: folder to write.  Of an earlier project there the files that were written are replaced, or removed where
            the new one has none of that name; everything else stays.  Files that were edited are not replaced
            (LAM-EMIT-003), nor is a folder taken that holds no project (LAM-EMIT-002).  docs/project.md.
        **words: what may be said by keyword: `options` and the fields of `Options`, and

            weights_only: `out` is a file, which becomes the blob of the weights, as `weights="blob"` has it, and
                nothing else is written; `path` of the result is that file.
            fits: the project, compiled with `weights="blob"`, whose code has to take the blob, or it is not written
                (LAM-EMIT-009); with it `weights_only` need not be said.
            measure_stack: run it on the target's emulated board, and put the stack that it takes into the manifest and
                the README; needs the target's compiler and its emulator (LAM-PROCESS-001 names their packages,
                LAM-EMULATOR-001 is for a target without such a board).  With `weights="blob"` the same network with C
                arrays is what runs.  Without it the files depend on no compiler.
            force: replace edited files too.
            calib: samples by which a float model is quantized first, as `quantize` takes them; `quantized` of the
                result is the report.
            config: TOML file with their `[preprocess]` table, the network's `[weights]` (docs/weights.md), and its
                `[postprocess]` table, which becomes C beside the network (docs/postprocess.md).
            preprocess: TOML file whose `[preprocess]` table, of a camera, becomes C beside the network
                (LAM-PREPROCESS-006 where it cannot).  docs/preprocess.md.
            toolkit: with what it is made, where operators, kernels or templates join the house's own; every function
                that makes something of a model takes it.  docs/architecture.md.
            plugins: operators of one's own: .py files, names of entry points, or `Plugin` objects.  Their code is run;
                nothing is loaded unless it is named here.  docs/plugins.md.
    """
    options, writing = parted(target, {**words, "out": out}, verbs.compile.Writing)
    return verbs.compile.compile_model(model, options, writing)


@takes_declared
def verify(model: ModelSource, *, target: str | None = None, **words: Unpack[CheckingWords]) -> VerifyResult:
    """Compare golden and C on some inputs, every tensor, byte for byte.

    The golden model runs the graph as imported, before any pass; tensors that a pass stored transposed are compared
    transposed.  Of a network with state the inputs are steps, one after the other from a reset on; all of them are run,
    and after another reset all once more.  The C runs on the host, or on the target's emulated board when there is one.
    With `stream_input` odd rows are written where NAME_next_row says, even rows are copied by NAME_push_row.

    Args:
        model: the model file, as in `compile_model`.
        target: where the C runs: a target without a board means the host.
        **words: `options` and the fields of `Options`, and

            inputs: an .npz file, arrays by input name, or samples; random over the input's range when None.
            samples: how many at most, 3 when not said.
            seed: of the random inputs.
            compiler: host compiler.
            flags: its optimisation flags; see `Network`.
            reference: `tflm` or `litert`: compare the outputs of a TFLite model with that runtime's too.
            preprocess: TOML file whose `[preprocess]` table, of a camera, becomes C with the network; as many random
                frames go through it, line by line, and through golden.
            config: TOML file whose `[postprocess]` table becomes C with the network; what it finds in the outputs of
                the inputs, and in as many random outputs, is compared.  docs/postprocess.md.
            progress: called with the number of samples done.
    """
    return verbs.verify.verify(model, *parted(target, words, verbs.verify.Checking))


@takes_declared
def verify_log(
    model: ModelSource,
    log: str | Path,
    *,
    target: str | None = None,
    toolkit: Toolkit = HOUSE,
    plugins: Sequence[Any] = (),
    **words: Unpack[OptionWords],
) -> LogCheck:
    """Compare what a board has said of its self-test with the golden model, tensor by tensor.

    Args:
        model: the model that the firmware was compiled from, as in `compile_model`.
        log: what the board's terminal has shown; lines of anything else in it are passed over.  docs/board.md.
        target: as the firmware was compiled, and so all of `words`, `options` and the fields of `Options`
            (LAM-VERIFY-004 says what is not as it was); `name` is read from the log.
        toolkit: with what it was made.
        plugins: as in `compile_model`.
    """
    tools = with_plugins(toolkit, plugins)
    return verbs.verify_log.verify_log(model, log, options_of(target, words), tools)


@takes_declared
def quantize(
    model: ModelSource,
    calib: Calibration | None = None,
    out: str | Path | None = None,
    *,
    target: str | None = None,
    shapes: ShapesGiven = None,
    **words: Unpack[QuantizingWords],
) -> Quantized:
    """Quantize a float model by samples of what it will see.

    Args:
        model: a float ONNX or TFLite file, as in `compile_model`.
        calib: .npz with samples, arrays of samples by the inputs' names, one array, or a sequence of samples;
                without any, inputs are made up, and ranges are what BatchNormalization knows where there is one.
        out: where the quantized model goes, an ONNX file with QuantizeLinear and DequantizeLinear nodes; its report as
            JSON stands beside it.  Without it nothing is written.
        target: whose arithmetic the result is judged in; `host` when None.
        shapes: of inputs whose dimensions the model leaves open.
        **words: what may be said by keyword:

            config: TOML file with the model's `[preprocess]` table, and the quantizer's own tables (docs/quantizer.md).
            weights: bits of the weights, 2 to 8; below 8 the first and the last layer keep 8.  `mixed`: layer by layer.
            activations: bits of the tensors, 8 or 16.  `mixed`: layer by layer.
            scales: `float`, or `pot` for powers of two.
            granularity: `channel` for a scale per output channel of the weights, or `tensor`.  These four go before
                what the file says of all tensors.
            recipe: `fast`, `default` or `best`: how much is tried; `default` when not said.
            table_in: ranges of tensors that were found before, in Lamina's own table or another tool's.
            table_out: where the ranges go: Lamina's own table where it ends in .toml, else TPU-MLIR's text.
            samples: how many are used at most, drawn by `seed`; 512 when not said.
            seed: of the draw.
            keep_float: names of nodes and tensors that stay real.
            budget: what the network may cost with mixed bits, as `arena=64K,flash=512K,instructions=20M`, or numbers by
                these names; the target's own memories are limits too (LAM-QUANT-028).
            stop_after: `inspect` or `calibrate`: what is known by then, without a model; `rewrite`: the float network.
            eval_data: labelled samples, as `evaluate` takes them: both networks are scored by `metric`.
            max_drop: points of the score that may be lost; `report.scored.missed` says that more were.
            scheduler: who shares the samples of the scores, and with mixed bits the layers and candidates, as in
                `evaluate`.
            progress: called with the runs done and all of them.
            toolkit, plugins: as in `compile_model`.

    Returns:
        `model`, the file's bytes, which every function takes as a model; `table`, scale, zero point and bits of each
        tensor; and `report`, how good the network is, and each tensor.  Of every five samples four set ranges, and one
        judges.
    """
    options = options_of(target, {"shapes": shapes})
    return verbs.quantize.quantize(model, options, verbs.quantizing.Quantizing(calib=calib, out=out, **joined(words)))


@takes_declared
def sensitivity(
    model: ModelSource,
    calib: Calibration,
    by: By = "layer",
    *,
    target: str | None = None,
    shapes: ShapesGiven = None,
    **words: Unpack[QuantizingWords],
) -> SensitivityReport:
    """Where quantizing a float model loses, the layer first that loses most when it alone is quantized.

    Args:
        model: a float ONNX or TFLite file, as in `compile_model`.
        calib: samples, as in `quantize`.
        by: `layer`, `type` for all layers of an operator at once, or `tensor` for each tensor and each constant.
        target: as in `quantize`.
        shapes: of inputs whose dimensions the model leaves open.
        **words: as in `quantize`; what is written there is not written here.  `scheduler` shares the parts.

    Returns:
        For each part the SQNR of the outputs in dB with it alone quantized, and how many dB the whole network gains
        when it stays real, and when its tensors get 16 bits.
    """
    how = verbs.quantizing.Quantizing(calib=calib, **joined(words))
    return verbs.sensitivity.sensitivity(model, options_of(target, {"shapes": shapes}), how, by)


@takes_declared
def compare_quantized(
    model: ModelSource,
    quantized: ModelSource,
    inputs: Calibration,
    *,
    shapes: ShapesGiven = None,
    **words: Unpack[BesideWords],
) -> QuantComparison:
    """A quantized ONNX model beside the float one that it was made from, tensor by tensor.

    Tensors are found by their names.  Two errors are told: what has accumulated down to a tensor, and what its own
    layer adds when it is given the float network's numbers (LAM-QUANT-027 where no tensor has its like).

    Args:
        model: the float model, as in `compile_model`.
        quantized: the quantized one, made by whichever tool.
        inputs: samples, as in `quantize`.
        shapes: of inputs whose dimensions the models leave open.
        **words: `config`, a TOML file with the `[preprocess]` table; `samples`, how many at most, 32 when not said;
            `progress`, called with the runs done and all of them; `toolkit` and `plugins` as in `compile_model`.
    """
    how = verbs.beside.Beside(quantized=quantized, given=inputs, **joined(words))
    return verbs.beside.compare_quantized(model, options_of(None, {"shapes": shapes}), how)


@takes_declared
def inspect(
    model: ModelSource,
    target: str | None = None,
    *,
    measure_stack: bool = False,
    toolkit: Toolkit = HOUSE,
    plugins: Sequence[Any] = (),
    **words: Unpack[OptionWords],
) -> Inspection:
    """Look at a model through the eyes of a target.

    `measure_stack`, `toolkit` and `plugins` are as in `compile_model`.  A plan that cannot be made (LAM-SCHEDULE-303,
    -304) is a violation like any other; no stack is measured then.

    Raises only when there is nothing to look at: no such model or target, an unreadable file, a bad option, or a stack
    that cannot be measured.
    """
    return verbs.inspect.inspect(
        model, options_of(target, words), measure_stack=measure_stack, toolkit=with_plugins(toolkit, plugins)
    )


@takes_declared
def fits(model: ModelSource, target: str | None = None, **words: Unpack[FittingWords]) -> tuple[Fit, ...]:
    """On which chips a network fits: all that a maker sells, or `target` alone; the fastest that it fits come first.

    A chip that it does not fit, or that does not run it, says why; raised is only what leaves nothing to look at.

    Args:
        model: the model file, as in `compile_model`.
        target: the only chip that is looked at.
        **words: `options` and the fields of `Options`, `toolkit`, `scheduler` as in `evaluate`, and
            `progress`, called with the kinds of chips done and all of them.
    """
    options, fitting = parted(None, {**words, "chip": target}, verbs.fits.Fitting)
    return verbs.fits.fits(model, options, fitting)


@takes_declared
def fits_each(
    models: Sequence[str | Path], target: str | None = None, **words: Unpack[FittingWords]
) -> tuple[tuple[Fit, ...], ...]:
    """On which chips each of several networks fits, as `fits` says of one; with `scheduler` all pieces are shared."""
    options, fitting = parted(None, {**words, "chip": target}, verbs.fits.Fitting)
    return verbs.fits.fits_each(models, options, fitting)


@takes_declared
def write_report(
    model: ModelSource, out: str | Path, targets: Sequence[str] = ("host",), **words: Unpack[ReportWords]
) -> Report:
    """Everything that is known of a model on targets, as one page that opens from a disk without a network.

    Args:
        model: the model file, as in `compile_model`.
        out: the page, NAME.html; it is written whole or not at all.
        targets: names of `targets()`, or .toml files.
        **words: `options` and the fields of `Options`, `toolkit` as in `compile_model`, and

            chips: rank all chips by whether the network fits, as `fits` does; True when not said.
            others: other networks, which are asked of the same chips.
            measure: count instructions on the emulated chip of each target that has a board, as `profile` does.
            float_model, data, config: compare with the float model on samples, as `compare_quantized` does.
            samples: how many of them at most, 32 when not said (LAM-API-012).
            sensitivity: try what each tensor of the float model would gain with more bits, as `sensitivity` does.
            eval_data: labelled samples, as `evaluate` takes them: the network is scored by `metric` (top1 when not
                said) on `engine` (c), `limit` of them at most, and so is the float model where there is one.
            scheduler: who shares the work of chips, scores and sensitivity, as in `evaluate`.
            against: the JSON of an older report, whose numbers are compared.

    Raises:
        OptionBad: LAM-IMPORT-030, a target twice, samples without a float model, or what is no older report.
        PictureNotWritable: LAM-API-013, the page.
    """
    options, look = parted(None, {**words, "out": out}, verbs.report.Looking)
    return verbs.report.report(model, tuple(targets), options, look)


@takes_declared
def serve_report(
    model: ModelSource,
    targets: Sequence[str] = ("host",),
    *,
    port: int = 0,
    browser: bool = True,
    ready: Callable[[str], None] | None = None,
    **words: Unpack[ReportWords],
) -> None:
    """Serve the report to browsers of this machine, and make it again whenever its files change, until Ctrl-C.

    Args:
        model: the model file, as in `compile_model`.
        targets: names of `targets()`, or .toml files.
        port: of 127.0.0.1; 0 for any that is free (LAM-API-014 for one that cannot be had).
        browser: open one.
        ready: called with the address when the page is there.
        **words: as of `write_report`.
    """
    options, look = parted(None, words, verbs.report.Looking)
    serving = verbs.report.Serving(look=look, port=port, ready=ready, browser=browser)
    verbs.report.serve(model, tuple(targets), options, serving)


@takes_declared
def profile(model: ModelSource, target: str | None = None, **words: Unpack[MeasuringWords]) -> Profile:
    """Measure one inference of `model`, after one that warms up, on a made-up input.

    On a target with a board: instructions, exact and the same each time.  On the host: microseconds on one core, the
    median of `repeats`, which depend on the machine and on what else it does.  Weights are C arrays in any case.

    Args:
        model: the model file, as in `compile_model`.
        target: `host`, or a target with a board (LAM-EMULATOR-001 for one without; LAM-PROCESS-001 names the packages
            of a compiler or an emulator that is not installed).
        **words: `options` and the fields of `Options`, and

            opt_level: the C compiler's level, such as `-Os`; what the target's file says when None.
            cycles: also estimate cycles, by the target's table and what was executed (LAM-EMULATOR-002 without one).
            repeats: inferences on the host, 15 when None; a board counts exactly, and is not asked to repeat
                (LAM-IMPORT-030).
    """
    return verbs.profile.profile(model, *parted(target, words, verbs.profile.Measuring))


@overload
def run(
    model: ModelSource,
    x: Mapping[str, Array],
    engine: str = ...,
    target: str | None = ...,
    **words: Unpack[RunningWords],
) -> dict[str, Array]: ...


@overload
def run(
    model: ModelSource, x: Array, engine: str = ..., target: str | None = ..., **words: Unpack[PlainWords]
) -> Array: ...


@overload
def run(
    model: ModelSource, x: Array, engine: str = ..., target: str | None = ..., **words: Unpack[DumpingWords]
) -> dict[str, Array]: ...


@takes_declared
def run(
    model: ModelSource, x: Any, engine: str = "golden", target: str | None = None, **words: Unpack[RunningWords]
) -> dict[str, Array] | Array:
    """One inference, or one per sample of a batch; a network with state begins as after a reset, and samples are steps.

    Args:
        model: an ONNX or TFLite file, as in `compile_model`.
        x: a mapping of the model's input names to arrays, or one array for the only input; in the model's own layout
            and type.  Real numbers of another type than float32 are rounded to the nearest one.  A model of shape
            [1, ...] takes [n, ...], and every model [n, *shape], sample by sample.
        engine: `golden` (the numpy model), `c` (the generated C on this machine), `float` (ONNX Runtime), `litert`
            or `tflm` (TFLite models on LiteRT and TFLite Micro).
        target: whose requantization and code are run; `host` when None.
        **words: `options` and the fields of `Options`, and

            dump_all: also every tensor inside the network, by the model's name where it has one.

    Returns:
        A mapping of output names to arrays, of all samples along the first axis; for one array the only output itself
        (LAM-API-011 when there are several), unless `dump_all` asks for more.
    """
    options, how = parted(target, {**words, "engine": engine}, verbs.run.Running)
    return verbs.run.run(model, x, options, how)


@takes_declared
def run_file(
    model: ModelSource,
    data: str | Path,
    engine: str = "golden",
    target: str | None = None,
    **words: Unpack[FeedingWords],
) -> dict[str, Array]:
    """Every sample of a data file through the model: results joined along the first axis.

    Of a network with state the samples are steps, in order, the first one after a reset.  Keywords as of `run`, and
    `config`, the TOML file with the model's `[preprocess]` table, `limit`, the first samples only, `progress`,
    called after each sample with done and all, `said`, called with what one should know of how the engine ran, and
    `found`, called with what each sample's outputs mean by the file's `[postprocess]` table: arrays by the names of
    docs/postprocess.md, best first, `score` f32[n], `label` i32[n] and the like.
    """
    options, how = parted(target, {**words, "engine": engine}, verbs.run.Feeding)
    return verbs.run.run_file(model, data, options, how)


@takes_declared
def evaluate(
    model: ModelSource,
    data: DataGiven | Iterable[Sample],
    metric: str = "top1",
    engine: str | Sequence[str] = "c",
    *,
    target: str | None = None,
    **words: Unpack[JudgingWords],
) -> Evaluation:
    """Run the labelled samples of `data` and judge the answers; of a network with state they are steps, in order.

    Args:
        model: a model file, as in `compile_model`.
        data: .npz with samples and `y`, what is true of each; a folder with a folder of pictures or sounds for each
            class; a .txt list of files and labels; arrays by name; or samples one by one, each its arrays by name.
            docs/metrics.md.
        metric: `top1`, `top5`, `f1`, `auc`, `psnr`, `miou`, `wer`, `map`, `map50`, `ap50`, `pooled_ap50`,
            or FILE.py:FUNCTION.
        engine: names of engines, as a sequence or joined by commas.
        target: whose requantization and code are run; `host` when None.
        **words: `options` and the fields of `Options`, and

            config: TOML file with the model's `[preprocess]` table.
            limit: use the first samples only.
            scheduler: who shares the work: `local` or `local:N` processes of this machine, or the address of a Dask
                scheduler; this process alone when None.  The result is the same.  docs/cluster.md.
            progress: called after each sample with done and all.
    """
    options, judging = parted(target, {**words, "metric": metric, "engine": engine}, verbs.evaluate.Judging)
    return verbs.evaluate.evaluate(model, data, options, judging)


@takes_declared
def read_samples(
    model: ModelSource,
    data: str | Path,
    config: str | Path | None = None,
    limit: int | None = None,
    *,
    target: str | None = None,
    **words: Unpack[ToolWords],
) -> list[Sample]:
    """The samples of a data file for a model file, preprocessed, by the model's input names."""
    options, reading = parted(target, {**words, "config": config, "limit": limit}, verbs.samples.Reading)
    return verbs.samples.read_samples(model, data, options, reading)
