"""What `inspect` returns: frozen records, as they are printed and as JSON has them."""

from __future__ import annotations

from codegen.errors import CompileError
from codegen.records import record
from codegen.report.fragments import Table, fragment, sized
from codegen.report.plan import PlanRecord
from codegen.report.stack import StackRecord
from codegen.report.standing import Standing
from codegen.report.table import shape_text


@record
class Violation:
    """One reason why the target does not run the model."""

    id: str
    where: str
    message: str
    hint: str

    @staticmethod
    def of(error: CompileError) -> Violation:
        """The violation that an error describes."""
        return Violation(error.code, error.where, error.found, error.way_out())


@record(kw_only=True)
class LayerRow:
    """One operator of the final graph.  `kernel` is empty when the target has none; `violation` is then its id.

    `form` is what the kernel does with the layer and why.  `parameters` counts trained numbers, which take
    `trained_bytes`, and `weights_bytes` packed, with factors, shifts and filling, `added_bytes` of which the tightest
    packing would not have; `rows` says which input rows an output row needs; `source` names the model's nodes it stands
    for, `note` how they were read.  `weights_way` says how weights come that are not read in place, `place` whether the
    maker's tools put the layer on the chip's accelerator or leave it to the core, where there is an accelerator.
    `tensor` is what the model calls the output; `scale` and `zero_point` are its own, where it has them.  `cycles` are
    estimated for one inference, None where the core's file says nothing of such a layer, and so are `instructions`;
    `standing` says how far these are above what the layer's products take at least.
    """

    name: str
    operator: str
    kernel: str
    form: str
    inputs: tuple[str, ...]
    output: str
    in_shapes: tuple[tuple[int, ...], ...]
    shape: tuple[int, ...]
    dtype: str
    macs: int
    parameters: int
    trained_bytes: int
    weights_bytes: int
    added_bytes: int
    output_bytes: int
    scratch_bytes: int
    rows: str
    source: tuple[str, ...]
    note: str
    violation: str = ""
    weights_way: str = ""
    place: str = ""
    tensor: str = ""
    scale: float | None = None
    zero_point: int | None = None
    cycles: int | None = None
    instructions: int | None = None
    standing: Standing | None = None


@record(kw_only=True)
class PortRow:
    """One input or output: the model's, and what the C interface has instead (real = scale * (q - zero_point))."""

    direction: str
    name: str
    model_shape: tuple[int, ...]
    model_dtype: str
    shape: tuple[int, ...]
    dtype: str
    scale: float | None
    zero_point: int | None
    bytes: int


@record
class InterfaceCost:
    """What keeping the model's own layout or type at the C interface adds; `problem` when that cannot be compiled."""

    option: str
    arena_bytes: int | None
    added_arena_bytes: int | None
    added_layers: int | None
    problem: str = ""


@record
class Peak:
    """The layer or group at which most memory is live, and the tensors that are, with their bytes, largest first."""

    node: str
    live: tuple[tuple[str, int], ...]


@record
class OperatorRow:
    """One kind of operator of a model that is not imported: how often it occurs, and how often it is refused and why.

    `macs` and `parameters` are those of the layers that the readable ones become, None when all are refused; of a float
    model its own.
    """

    operator: str
    count: int
    refused: int
    violations: tuple[str, ...]
    macs: int | None
    parameters: int | None


@record
class FloatInput:
    """An input of a float model, whose range calibration has to find."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@record
class Quantizing:
    """What quantizing a float model needs: samples of each input, and the lines of the command that does it."""

    inputs: tuple[FloatInput, ...]
    command: tuple[str, ...]


@record(kw_only=True)
class Inspection:
    """Everything `inspect` shows.  Sizes are None where the model did not get that far.

    A model that is not imported has `operators`, and its layers are those that can be read; of a float model they are
    what it would have once quantized, while MACs and parameters are its own.  A float model has `quantizing`.

    `bytes_at_8_bits`: of a float model, the trained numbers with 8 bits each, vectors among them with 32, and
    `arena_at_8_bits` the arena that it would have.
    `cycles` are estimated for one inference, and `milliseconds` by them and the chip's clock.
    `weights_expand`: the target lets packing add what is fastest to the weights, and not 2 % or 512 B at most.
    """

    model: str
    target: str
    requant: str
    is_real: bool
    supported: bool
    violations: tuple[Violation, ...]
    layers: tuple[LayerRow, ...]
    macs: int
    parameters: int
    weights_bytes: int | None
    weights_expand: bool
    arena_bytes: int | None
    arena_lower_bound_bytes: int | None
    ram_bytes: int | None
    flash_bytes: int | None
    peak: Peak | None
    plan: PlanRecord | None
    interface: tuple[PortRow, ...]
    interface_costs: tuple[InterfaceCost, ...]
    notes: tuple[str, ...]
    stack: StackRecord | None = None
    operators: tuple[OperatorRow, ...] = ()
    quantizing: Quantizing | None = None
    bytes_at_8_bits: int | None = None
    arena_at_8_bits: int | None = None
    cycles: int | None = None
    milliseconds: float | None = None

    def _repr_html_(self) -> str:
        """The inspection in a notebook."""
        figures = [
            ("runs", "yes" if self.supported else "no"),
            ("arena", sized(self.arena_bytes)),
            ("weights", sized(self.weights_bytes)),
            ("MACs", self.macs),
            ("parameters", self.parameters),
            ("about cycles", self.cycles),
            ("about milliseconds", self.milliseconds),
        ]
        broken = [(v.id, v.where, v.message, v.hint) for v in self.violations]
        layers = [
            (
                r.name,
                r.operator,
                r.violation or r.kernel,
                f"{r.dtype} {shape_text(r.shape)}",
                r.macs,
                sized(r.weights_bytes),
            )
            for r in self.layers
        ]
        tables = (
            Table("What it does not run", ("id", "where", "reason", "way out"), broken),
            Table("Layers", ("layer", "operator", "kernel", "output", "MACs", "weights"), layers),
        )
        return fragment(f"{self.model} on {self.target}", figures, tables, self.plan)
