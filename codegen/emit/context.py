"""Program to the frozen records that templates spell: every number and every name ready-made.

Templates hold loops and names only; what is computed is computed here and in the modules that this one puts together,
where it can be tested.  Those that few projects need are loaded for a project that does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from codegen.emit.about import memory_map
from codegen.emit.addresses import Names
from codegen.emit.blob import BLOB_HEADER_BYTES, Fit
from codegen.emit.functions import FieldView, FunctionView, code_views
from codegen.emit.groups import GroupView, group_views
from codegen.emit.interface import PortView, StateView, StreamView, port_view, state_view, stream_view
from codegen.emit.names import comment, package_version
from codegen.emit.reads import ReadsView, reads_view
from codegen.emit.spelling import ArrayView, array_lines
from codegen.emit.steps import Steps, TableView
from codegen.errors import OptionBad
from codegen.ir.camera import CameraProgram
from codegen.ir.plan import Region
from codegen.ir.postprocess import PostProgram
from codegen.ir.program import ConstRow, Port, Program
from codegen.ir.weights import Params
from codegen.options import Options
from codegen.records import record
from codegen.resources import ABI, ROOTS, VERSION, Roots
from codegen.target import FEATURES, Target

if TYPE_CHECKING:
    from codegen.emit.camera import CameraView
    from codegen.emit.postprocess import PostView
    from codegen.emit.scratchpad import ScratchpadView


@record
class ParamsView:
    """One layer's parameters: an object of a struct, at a multiple of `alignment` where that is above 1."""

    symbol: str
    struct: str
    title: str
    offset: int
    alignment: int
    arrays: tuple[ArrayView, ...]


@record
class RegionView:
    """Memory beside the arena: what its identifiers begin with, in small and big letters, its size, and `what` it is.

    `given`: it holds the input, and is the caller's.
    """

    symbol: str
    upper: str
    bytes: int
    what: str
    given: bool


@record
class Guard:
    """How a compiler says that it may use the chip's instructions: a macro, and the flags that define it.

    `found` is what the runtime's header makes of that, where it is included.
    """

    macro: str
    found: str
    flags: str


@record
class EmitOptions:
    """What the caller chose about the project's form."""

    version: str
    abi: int
    options: str
    isa: str
    byte_order: str
    blob: bool = False
    small: bool = False
    roots: Roots = ROOTS
    flags: str = ""
    cc: str = ""
    packages: tuple[str, ...] = ()
    model_version: str = ""
    labels: tuple[str, ...] = ()
    camera: CameraProgram | None = None
    post: PostProgram | None = None


@record(kw_only=True)
class ModelView:
    """All that the project's templates see; `form` is what the caller chose.

    `functions` are the layers' shapes, `codes` the functions that are emitted for them.
    """

    name: str
    upper: str
    form: EmitOptions
    arena_bytes: int
    arena_align: int
    regions: tuple[RegionView, ...]
    inputs: tuple[PortView, ...]
    outputs: tuple[PortView, ...]
    input_t: str
    output_t: str
    functions: tuple[FunctionView, ...]
    codes: tuple[FunctionView, ...]
    groups: tuple[GroupView, ...]
    const_rows: tuple[ArrayView, ...]
    tables: tuple[TableView, ...]
    params: tuple[ParamsView, ...]
    in_image: tuple[ParamsView, ...]
    params_bytes: int
    blob_bytes: int
    fit: Fit | None
    tensors: int
    states: tuple[StateView, ...]
    counters: int
    stream: StreamView | None
    uses_float: bool
    work: str
    scratchpad: ScratchpadView | None
    memory_map: tuple[str, ...]
    guard: Guard | None
    const: str
    base: str
    package_version: str
    reads: ReadsView | None
    sliced: bool
    camera: CameraView | None
    post: PostView | None

    @property
    def hooks(self) -> tuple[FunctionView, ...]:
        """A function for each hook that the firmware provides."""
        return tuple({f.context.function: f for f in reversed(self.functions) if f.is_hook}.values())[::-1]


def emit_options(options: Options, target: Target, said: str, roots: Roots = ROOTS) -> EmitOptions:
    """The project's form; `said` is what its files say of the options."""
    if options.weights == "blob" and "program_memory" in FEATURES[target.isa]:
        asked, given = ("weights_buffer", options.weights_buffer) if options.weights_buffer else ("weights", "blob")
        hint = f"{target.name} reads weights from program memory: leave {asked} out"
        raise OptionBad(repr(given), where=asked, hint=hint)
    return EmitOptions(
        version=VERSION,
        abi=ABI,
        options=comment(said),
        isa=target.isa,
        byte_order=target.byte_order,
        blob=options.weights == "blob",
        small=options.goal == "size",
        roots=roots,
        flags=comment(" ".join(target.toolchain.cflags)) if target.toolchain else "",
        cc=target.toolchain.cc if target.toolchain else "",
        packages=options.package,
        model_version=options.model_version,
        labels=options.labels,
    )


def build_view(program: Program, options: EmitOptions, fit: Fit | None = None) -> ModelView:
    """The record for the templates; `fit` is what the code expects of a blob."""
    flash = "program_memory" in FEATURES.get(options.isa, ())
    const = "const LAM_FLASH" if flash else "const"
    names = Names(program, blob=options.blob, const=const)
    steps = Steps(names)
    groups = group_views(program, steps)
    uses_float = any("float" in (f.in_t, f.out_t, *(x.ctype for x in f.fields)) for f in names.functions.values())
    return ModelView(
        name=program.name,
        upper=program.name.upper(),
        form=options,
        arena_bytes=program.arena_bytes,
        arena_align=program.arena_align,
        regions=tuple(map(_region_view, program.regions)),
        inputs=tuple(port_view(p, i, names) for i, p in enumerate(program.inputs)),
        outputs=tuple(port_view(p, i, names) for i, p in enumerate(program.outputs)),
        input_t=_common_type(program.inputs),
        output_t=_common_type(program.outputs),
        functions=tuple(names.functions.values()),
        codes=code_views(program, names.functions),
        groups=groups,
        const_rows=tuple(_const_row(r, names.padding[r.dtype, r.value]) for r in program.const_rows),
        tables=tuple(steps.tables.values()),
        params=tuple(_params_view(p, names, spelled=False) for p in program.params),
        in_image=tuple(_params_view(p, names) for p in (program.mapped if options.blob else program.params)),
        params_bytes=program.params_bytes,
        blob_bytes=BLOB_HEADER_BYTES + program.params_bytes,
        fit=fit,
        tensors=len(program.tensors),
        states=tuple(state_view(s, f"{program.name}_state{i}", names) for i, s in enumerate(program.states)),
        counters=max((len(g.steps) for g in groups if g.pulled), default=0),
        stream=stream_view(program, names),
        uses_float=uses_float,
        work=names.work,
        scratchpad=_scratchpad_view(program, names),
        memory_map=memory_map(program),
        guard=_guard(options),
        const=const,
        base="lam_avr.h" if flash else "lam_base.h",
        reads=reads_view(program.weights) if program.weights else None,
        sliced=any(s.staged or s.gathered for group in program.groups for call in group.calls if (s := call.slices)),
        camera=_camera_view(options.camera),
        post=_post_view(options.post),
        package_version=package_version(options.model_version),
    )


def _guard(options: EmitOptions) -> Guard | None:
    """What the compiler must define for kernels of this instruction set; None where plain C is all there is."""
    features = FEATURES.get(options.isa, frozenset())
    macros = next((macros for feature, macros in _MACROS.items() if feature in features), None)
    return Guard(*macros, options.flags or "the chip's -mcpu") if macros else None


_MACROS = {"mve": ("__ARM_FEATURE_MVE", "LAM_MVE"), "dsp": ("__ARM_FEATURE_DSP", "LAM_ARMV7EM")}
"""What a compiler defines that may use a feature's instructions, and then the runtime; the larger set first."""


def _common_type(ports: Sequence[Port]) -> str:
    kinds = {p.dtype.ctype for p in ports}
    return kinds.pop() if len(kinds) == 1 else "void"


def _const_row(row: ConstRow, name: str) -> ArrayView:
    values = np.full(row.elements, row.value, row.dtype.numpy)
    return ArrayView(name, row.dtype.ctype, row.elements, array_lines(values), about=f"all {row.value:g}")


def _params_view(params: Params, names: Names, *, spelled: bool = True) -> ParamsView:
    """One layer's parameters; where they are not `spelled`, without their numbers."""
    arrays = tuple(
        ArrayView(f.name, f.ctype, f.size, array_lines(f.values) if spelled else (), params.offsets[f.name])
        for f in params.fields
    )
    struct = names.structs[tuple(FieldView(a.name, a.ctype, a.count, a.offset) for a in arrays)]
    return ParamsView(names.symbol(params), struct, comment(params.name), params.offset, params.alignment, arrays)


def _region_view(region: Region) -> RegionView:
    what = "the input, wherever it lies: it is only read" if region.given else f"in the slower memory {region.memory}"
    return RegionView(region.memory, region.memory.upper(), region.bytes, what, region.given)


def _scratchpad_view(program: Program, names: Names) -> ScratchpadView | None:
    if program.scratchpad is None:
        return None
    from codegen.emit.scratchpad import scratchpad_view

    sources = tuple(names.load_from(load.params) for load in program.scratchpad.params)
    return scratchpad_view(program.scratchpad, sources, names.tensors)


def _camera_view(camera: CameraProgram | None) -> CameraView | None:
    if camera is None:
        return None
    from codegen.emit.camera import camera_view

    return camera_view(camera)


def _post_view(program: PostProgram | None) -> PostView | None:
    if program is None:
        return None
    from codegen.emit.postprocess import post_view

    return post_view(program)
