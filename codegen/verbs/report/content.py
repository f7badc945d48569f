"""What a report says: the network on each target, on all chips, against its float model, and against an older report.

Decides: that the page has the numbers of the records that `--json` prints, and no other.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from codegen.datafiles import path_given, written_file
from codegen.emit import network_name
from codegen.errors import ClusterLost, CompileError, ExtraMissing, OptionBad, PictureNotWritable, SchedulerBad
from codegen.frontends.files import read_model_file
from codegen.options import Options
from codegen.planning import met, said
from codegen.records import record
from codegen.report.profile import Profile
from codegen.report.sensitive import QuantComparison, SensitivityReport
from codegen.report.table import plain
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.beside import Beside, compare_quantized
from codegen.verbs.calibration import Calibration
from codegen.verbs.evaluate import Judging
from codegen.verbs.fits import Fit, Fitting, fits
from codegen.verbs.inspect import inspect
from codegen.verbs.inspection import Inspection
from codegen.verbs.kinds import DataGiven, Sample
from codegen.verbs.profile import Measuring, profile
from codegen.verbs.quantizing import Quantizing
from codegen.verbs.report.changes import Change, changes, facts, older
from codegen.verbs.report.costs import Roof, roofs
from codegen.verbs.report.grade import Grade, graded
from codegen.verbs.report.guilt import Guilty, guilty
from codegen.verbs.report.page import page
from codegen.verbs.report.steps import Known, Step, steps
from codegen.verbs.report.tries import Try, tries
from codegen.verbs.samples import check_count
from codegen.verbs.sensitivity import sensitivity
from codegen.verbs.sources import ModelSource, file_of, shown, takes_model


@record(kw_only=True, eq=False)
class Looking:
    """The page that is written, where there is one, and what it is to look at beside its targets.

    `chips` ranks all chips, for the networks of `others` too; `measure` counts instructions where a target has a board;
    `float_model` and `data` compare with the float model, on `samples` of them at most, and `sensitivity` tries what
    each layer would gain otherwise; `eval_data` are labelled samples that it is scored on by `metric`, on `engine`, the
    first `limit` of them; `against` is what `lamina report --json` printed before.  `scheduler` shares the work of
    chips, scores and sensitivity.
    """

    out: str | Path | None = None
    chips: bool = True
    others: Sequence[ModelSource] = ()
    measure: bool = False
    float_model: ModelSource | None = None
    data: Calibration | None = None
    config: str | Path | None = None
    samples: int | None = None
    sensitivity: bool = False
    eval_data: DataGiven | Iterable[Sample] | None = None
    metric: str = "top1"
    engine: str = "c"
    limit: int | None = None
    scheduler: str | None = None
    against: str | Path | None = None
    toolkit: Toolkit = HOUSE


@record(kw_only=True)
class Network:
    """Another network, and whether it fits the same chips."""

    model: str
    chips: tuple[Fit, ...]


@record(kw_only=True)
class Report:
    """Everything on the page.  `profiles` are those of the targets with a board, where they were asked for.

    `sha256` is the model file's; `asked` has the options of each target, in words; `guilty` ranks the tensors of
    `accuracy`; `steps` are what to do next, made of all the others.
    """

    model: str
    sha256: str
    asked: tuple[str, ...]
    grade: Grade | None
    steps: tuple[Step, ...]
    targets: tuple[Inspection, ...]
    tries: tuple[Try, ...]
    profiles: tuple[Profile, ...]
    roofs: tuple[Roof, ...]
    chips: tuple[Fit, ...]
    others: tuple[Network, ...]
    accuracy: QuantComparison | None
    guilty: tuple[Guilty, ...]
    sensitivity: SensitivityReport | None
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


def report(model: ModelSource, targets: Sequence[str], options: Options, look: Looking) -> Report:
    """Look at the model on every target, and write the page, whole or not at all.

    Raises:
        OptionBad: LAM-IMPORT-030, no target, one twice, samples without a float model, or what is no older report.
        PictureNotWritable: LAM-API-013, the page.
    """
    path = _page_path(look.out)
    found = looked_at(model, targets, options, look)
    text = page(found, compared=look.against is not None)
    with written_file(path, lambda said: PictureNotWritable(said, where=str(path))) as file:
        file.write(text.encode())
    return found


@takes_model
def looked_at(model: ModelSource, targets: Sequence[str], options: Options, look: Looking) -> Report:
    """What the page says; errors as of `report`, but for the page's own."""
    _check(targets, look)
    before = None if look.against is None else older(path_given(look.against, "against"))
    asked = tuple(replace(options, target=name) for name in targets)
    looks = tuple(inspect(model, each, toolkit=look.toolkit) for each in asked)
    profiles = tuple(_profiles(model, options, looks, look.toolkit)) if look.measure else ()
    accuracy = _accuracy(model, options, look)
    gains = _sensitivity(options, look)
    notes: list[str] = []
    found = Report(
        model=looks[0].model,
        sha256=hashlib.sha256(read_model_file(file_of(model))).hexdigest(),
        asked=tuple(_said(each, file_of(model)) for each in asked),
        grade=_grade(model, options, look),
        steps=(),
        targets=looks,
        tries=tuple(tries(model, options, looks, look.toolkit)),
        profiles=profiles,
        roofs=tuple(roofs(looks, profiles)),
        chips=_chips(model, options, look, notes) if look.chips else (),
        others=tuple(_other(other, options, look) for other in look.others) if look.chips else (),
        accuracy=accuracy,
        guilty=tuple(guilty(accuracy, gains)) if accuracy else (),
        sensitivity=gains,
        changes=(),
        notes=tuple(notes),
    )
    found = replace(found, steps=tuple(steps(_known(found, file_of(model), options))))
    return found if before is None else replace(found, changes=changes(before, facts(plain(found))))


def _known(found: Report, file: Path, options: Options) -> Known:
    """What the steps are made of."""
    return Known(
        file=shlex.quote(shown(file)),
        options=options,
        looks=found.targets,
        tries=found.tries,
        chips=found.chips,
        roofs=found.roofs,
        grade=found.grade,
        guilty=found.guilty,
    )


def _said(options: Options, model: Path) -> str:
    chip, options = met(options, model)
    return said(options, chip)


@takes_model
def _other(model: ModelSource, options: Options, look: Looking) -> Network:
    return Network(model=network_name(file_of(model).stem), chips=fits(model, options, _fitting(look)))


def _fitting(look: Looking) -> Fitting:
    return Fitting(toolkit=look.toolkit, scheduler=look.scheduler)


def _grade(model: ModelSource, options: Options, look: Looking) -> Grade | None:
    if look.eval_data is None:
        return None
    judging = Judging(
        metric=look.metric,
        engine=look.engine,
        config=look.config,
        limit=look.limit,
        scheduler=look.scheduler,
        toolkit=look.toolkit,
    )
    return graded((model, look.float_model), look.eval_data, options, judging)


def _page_path(out: str | Path | None) -> Path:
    path = path_given(out, "out")
    if path.suffix.lower() not in (".html", ".htm"):
        raise PictureNotWritable("a report is a page", where=str(path), hint="name the file NAME.html")
    return path


def _check(targets: Sequence[str], look: Looking) -> None:
    if not targets or len(set(targets)) != len(targets):
        said = "one target twice" if targets else "no target"
        raise OptionBad(said, where="targets", hint="name each target once, such as cortex-m4,cortex-m55")
    beside = look.data is not None or look.eval_data is not None
    if (look.data is not None and look.float_model is None) or (look.float_model is not None and not beside):
        raise OptionBad(
            "a float model and samples go together",
            where="report",
            hint="give both --float-model and --data (or --eval), or neither",
        )
    check_count(look.samples)
    check_count(look.limit)
    if look.sensitivity and look.data is None:
        raise OptionBad("nothing to try", where="sensitivity", hint="give --float-model and --data with it")
    if look.others and not look.chips:
        raise OptionBad("no chips are asked", where="others", hint="leave out --no-chips, or --also")
    for name in targets:
        load_target(name)


def _profiles(model: ModelSource, options: Options, looks: Sequence[Inspection], toolkit: Toolkit) -> Iterator[Profile]:
    """What each layer takes, on the targets that have a board."""
    for look in looks:
        if look.supported and load_target(look.target).board is not None:
            yield profile(model, replace(options, target=look.target), Measuring(toolkit=toolkit))


def _chips(model: ModelSource, options: Options, look: Looking, notes: list[str]) -> tuple[Fit, ...]:
    try:
        return fits(model, options, _fitting(look))
    except (ClusterLost, ExtraMissing, SchedulerBad):
        raise
    except CompileError as error:
        notes.append(f"no chips are ranked: {error}")
        return ()


def _accuracy(model: ModelSource, options: Options, look: Looking) -> QuantComparison | None:
    if look.float_model is None or look.data is None:
        return None
    how = Beside(
        quantized=model, given=look.data, config=look.config, samples=look.samples, numbers=True, toolkit=look.toolkit
    )
    return compare_quantized(look.float_model, options, how)


def _sensitivity(options: Options, look: Looking) -> SensitivityReport | None:
    """By the tensors that layers give, so that they are those of the comparison."""
    if not look.sensitivity or look.float_model is None or look.data is None:
        return None
    how = Quantizing(calib=look.data, config=look.config, scheduler=look.scheduler, toolkit=look.toolkit)
    return sensitivity(look.float_model, options, how, "tensor")
