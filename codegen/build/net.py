"""Net: a network from calls, which is the RealGraph that a file would have given.

Decides: how values are named, and that a constant is whatever is no tensor.  Leaves to the operators what fits them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from codegen import verbs
from codegen.build import checks
from codegen.build.operators import Made, Operators, onnx_function, real_function, real_operators
from codegen.build.tensor import Label, Tensor
from codegen.datafiles import path_given
from codegen.emit import network_name, write_project
from codegen.errors import CallWrong, NetworkUnfinished, TensorWrong
from codegen.frontends import real_bytes
from codegen.frontends.onnx.real.calling import attribute_names, called, input_types, new_reading, operator_names
from codegen.ir.quant import Array, Mode
from codegen.ir.real import Definition, RealGraph, RealNode, RealOp, RealState, RealType, RealValue, Stored
from codegen.ir.verify import verify_graph
from codegen.options import Options
from codegen.pipeline import NO_HASH, Compiled, compile_graph
from codegen.planning import choose_mode
from codegen.planning.real import as_asked
from codegen.report.code_size import estimate_code_bytes
from codegen.settle.borders import Borders
from codegen.settle.walk import settle
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.compile import Project


class Net:
    """A network that grows by calls.

    Args:
        name: of the network, prefix of every C identifier.
        definition: whose integer arithmetic is meant where it is quantized: `onnx` or `tflite`.
        toolkit: with what it is made.
    """

    def __init__(self, name: str = "net", *, definition: Definition = "onnx", toolkit: Toolkit = HOUSE) -> None:
        if not isinstance(toolkit, Toolkit):
            raise CallWrong(f"{toolkit!r:.60} is no Toolkit", where="Net")
        self.name = checks.text(name, "Net")
        self.definition: Definition = checks.definition(definition)
        self._toolkit = toolkit
        self._reading = new_reading(toolkit.vocabulary)
        self._outputs: dict[str, str] = {}
        self._calls = 0
        self.onnx = Operators(lambda: operator_names(self._reading), self._onnx)
        self.real = Operators(real_operators, lambda operator: real_function(self, operator))

    # Tensors

    def input(self, name: str, shape: Sequence[int], dtype: Any = np.float32, *, held: Stored | None = None) -> Tensor:
        """What the network's user writes; `held` says in which integers, of a network of TFLite's definition."""
        if checks.text(name, "input") in self._reading.values:
            raise NetworkUnfinished(f"two tensors are called {name!r}", where=self.name)
        kind = RealType(checks.sizes(shape, name), checks.element(dtype, name))
        return self._tensor(self._reading.input(name, kind, checks.stored(held, name)))

    def const(self, array: Any, name: str = "const", *, held: Stored | None = None) -> Tensor:
        """Numbers that are known: real ones, or the integers that hold them."""
        known = checks.numbers(array, checks.text(name, "const"))
        return self._tensor(self._reading.constant(name, known, checks.stored(held, name)))

    def output(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """Name an output of the network."""
        value = self._own(tensor)
        face = value if name is None else checks.text(name, "output")
        if face in self._outputs:
            raise NetworkUnfinished(f"two outputs are called {face!r}", where=self.name)
        self._outputs[face] = value
        return tensor

    def state(self, initial: Array, name: str = "state", *, held: Stored | None = None) -> Tensor:
        """What the network keeps between runs, `initial` at first; `becomes` says what it is after a run."""
        first = checks.numbers(initial, checks.text(name, "state"))
        return self._tensor(self._reading.state(name, first, checks.stored(held, name)))

    def becomes(self, state: Tensor, tensor: Tensor) -> None:
        """Say what a state is after a run."""
        kept, value = self._own(state), self._own(tensor)
        if kept not in self._reading.states:
            raise TensorWrong(f"{kept!r} is no state", where=self.name)
        if state.shape != tensor.shape:
            raise CallWrong(f"a tensor of shape {list(tensor.shape)}, not {list(state.shape)}", where=kept)
        self._reading.becomes(kept, value)

    def quantized(self, x: Tensor, scale: Any, zero_point: int = 0, dtype: Any = np.int8, *, axis: int = 1) -> Tensor:
        """The tensor held as integers of a scale (QuantizeLinear and DequantizeLinear), of one per entry of `axis`."""
        scales = checks.scales(scale)
        zero = checks.zeros(zero_point, scales, dtype)
        words = {"axis": axis} if scales.ndim else {}
        q = self.onnx.QuantizeLinear(x, scales, zero, **words)
        y = self.onnx.DequantizeLinear(q, scales, zero, **words)
        assert isinstance(y, Tensor)
        return y

    def weights(self, array: Any, scale: Any, *, axis: int = 0) -> Tensor:
        """Constant integers with their scale, of the whole or one per entry of `axis`."""
        scales = checks.scales(scale)
        y = self.onnx.DequantizeLinear(
            checks.numbers(array, "weights"), scales, **({"axis": axis} if scales.ndim else {})
        )
        assert isinstance(y, Tensor)
        return y

    def note(self, text: str) -> None:
        """What whoever compiles the network is told, once."""
        self._reading.note(text)

    def type(self, tensor: Tensor) -> RealType:
        """Shape and element type of a tensor."""
        return self._reading.type(self._own(tensor))

    # Operators

    def apply(
        self,
        op: RealOp,
        *inputs: Any,
        name: str | None = None,
        outputs: Sequence[str] = (),
        label: Label | None = None,
        held: Sequence[Stored | None] = (),
    ) -> Made:
        """The outputs of an operator of the RealGraph; the one where it has one only.

        `outputs` call them, `held` says how they are stored, and `label` how messages call the node.
        """
        if label is not None and not isinstance(label, Label):
            raise CallWrong(f"{label!r:.60} is no Label", where="apply")
        checks.known_operator(op)
        first = self._free(type(op).__name__) if name is None else checks.text(name, "name")
        with self._whole_or_nothing():
            values = [self._value(x) for x in inputs]
            with checks.fitting(op, len(inputs)):
                kinds = op.infer([self._reading.type(v) for v in values])
            called = checks.texts(outputs, "outputs")
            names = [*called, *(first if not i else f"{first}:{i}" for i in range(len(called), len(kinds)))]
            made = self._new_values(names, kinds, held)
        told = label or Label(first, type(op).__name__, made[0])
        node = RealNode(made[0], op, tuple(values), tuple(made), told.name, told.op_type, told.tensor, told.part)
        self._reading.nodes.append(node)
        return self._made(made)

    def _new_values(self, names: Sequence[str], kinds: Sequence[RealType], held: Any) -> list[str]:
        how = [checks.stored(one, "held") for one in checks.listed(held, "held")]
        if max(len(names), len(how)) > len(kinds):
            raise CallWrong(f"{max(len(names), len(how))} outputs are spoken of, there are {len(kinds)}", where="apply")
        made = []
        for one, kind, stored in zip(names, kinds, [*how, *[None] * (len(kinds) - len(how))], strict=True):
            made.append(self._reading.free_name(one))
            self._reading.values[made[-1]] = RealValue(made[-1], kind, stored=stored)
        return made

    def call_onnx(
        self, operator: str, inputs: Sequence[Any], name: str | None, count: int, words: dict[str, Any]
    ) -> Made:
        """The outputs of an operator of ONNX; the functions of `net.onnx` call it."""
        count = checks.count(count, f"{operator}: outputs")
        first = self._free(operator.rpartition("::")[2]) if name is None else checks.text(name, "name")
        names = [first if not i else f"{first}:{i}" for i in range(count)]
        with self._whole_or_nothing():
            typed = self._typed(inputs, input_types(operator, len(inputs)))
            given = ["" if x is None else self._value(x) for x in typed]
            self._reading.tensors.update((value, value) for value in given if value)
            return self._made(called(self._reading, operator, given, names, words)[:count])

    def _typed(self, inputs: Sequence[Any], names: Sequence[str]) -> list[Any]:
        """Operands; Python's numbers in the type of the tensors and arrays whose type ONNX gives the same name."""
        kinds: dict[str, np.dtype[Any]] = {}
        for x, name in zip(inputs, names, strict=False):
            if isinstance(x, Tensor | np.ndarray | np.generic):
                kinds.setdefault(name, x.dtype)
        typed = [_as(x, kinds.get(name)) for x, name in zip(inputs, names, strict=False)]
        return [*typed, *inputs[len(typed) :]]

    @contextmanager
    def _whole_or_nothing(self) -> Iterator[None]:
        """A call that is refused leaves neither nodes nor constants."""
        reading = self._reading
        nodes, values = len(reading.nodes), len(reading.values)
        try:
            yield
        except BaseException:
            del reading.nodes[nodes:]
            for name in list(reading.values)[values:]:
                del reading.values[name]
                reading.bits.pop(name, None)
            raise

    def _onnx(self, name: str) -> Any:
        return onnx_function(self, name, attribute_names(name))

    def _made(self, values: Sequence[str]) -> Made:
        tensors = tuple(self._tensor(v) for v in values)
        return tensors[0] if len(tensors) == 1 else tensors

    def _free(self, kind: str) -> str:
        self._calls += 1
        return f"{kind.lower()}_{self._calls}"

    def _tensor(self, value: str) -> Tensor:
        return Tensor(self, value)

    def _value(self, x: Any) -> str:
        """The value of an operand; numbers and arrays become constants."""
        if isinstance(x, Tensor):
            return self._own(x)
        array = checks.numbers(x, self.name)
        return self.const(array.astype(np.float32) if array.dtype == np.float64 else array).name

    def _own(self, x: Any) -> str:
        """The value of a tensor of this network."""
        if not isinstance(x, Tensor):
            raise TensorWrong(f"{x!r:.60} is of type {type(x).__name__}, no tensor", where=self.name)
        if x.net is not self:
            raise TensorWrong(f"{x.name!r} is a tensor of another network", where=self.name)
        return x.name

    # What becomes of it

    def graph(self) -> RealGraph:
        """The network as it is by now.

        Raises:
            NetworkUnfinished: LAM-BUILD-004.
        """
        if not self._outputs:
            raise NetworkUnfinished("it has no output", where=self.name)
        states: tuple[RealState, ...] = tuple(self._reading.states.values())
        return RealGraph(
            name=self.name,
            values=self._reading.values,
            nodes=tuple(self._reading.nodes),
            inputs=tuple(self._reading.inputs),
            outputs=tuple(self._outputs.values()),
            definition=self.definition,
            faces=tuple(self._outputs),
            notes=tuple(self._reading.notes),
            states=states,
            halves=self._reading.halves,
        ).live()

    def to_onnx(self) -> bytes:
        """The network as an ONNX file, which every function of Lamina takes as a model."""
        return real_bytes(self.graph())

    def compile(self, target: str = "host", out: str | Path = "lamina-out", **words: Any) -> Project:
        """The C project of the network at `out`; `words` are the fields of `Options`.  Errors as of `compile_model`."""
        options = replace(Options(target=target, name=self.name), **_options(words))
        folder = verbs.compile.folder_for(path_given(out, "out"))
        compiled = self.compiled(options)
        write_project(folder, compiled.files)
        code = estimate_code_bytes(compiled.files, compiled.program.name, compiled.target.isa)
        return Project(folder, compiled.manifest, code)

    def compiled(self, options: Options, model_hash: bytes = NO_HASH) -> Compiled:
        """Every form that the network takes on its way, and the files; `model_hash` is of the file that it is of."""
        graph = self.graph()
        target = load_target(options.target)
        mode: Mode = choose_mode(_by_definition(options, self.definition), target)
        options = replace(options, requant=mode)
        known = self._toolkit.vocabulary
        rules = known.tflite_rules if self.definition == "tflite" else known.rules
        borders = Borders(options.io_type, options.io_layout)  # type: ignore[arg-type]
        made = settle(graph, mode, borders, rules, by_image=not options.stream_input)
        made = as_asked(replace(made, name=network_name(options.name or self.name)), options, target)
        verify_graph(made)
        return compile_graph(made, target, options, model_hash, self._toolkit)


def _by_definition(options: Options, definition: Definition) -> Options:
    """TFLite's networks are computed as TFLite computes them unless told otherwise."""
    own = "tflite" if definition == "tflite" and options.requant is None else options.requant
    return replace(options, requant=own)


def _options(words: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fields of `Options`; LAM-BUILD-002 for others."""
    known = [field.name for field in fields(Options)]
    for word in words:
        if word not in known:
            close = difflib.get_close_matches(word, known, n=1)
            raise CallWrong(f"no option is called {word!r}" + (f"; {close[0]}?" if close else ""), where="compile")
    return words


def _as(x: Any, kind: np.dtype[Any] | None) -> Any:
    """Python's numbers in a type, where it has them; all else as it is."""
    plain = isinstance(x, int | float | list | tuple) and not isinstance(x, bool)
    array = checks.numbers(x, "operand") if plain and kind is not None else None
    if array is None or kind is None or array.dtype.kind not in "fi" or (kind.kind != "f" and array.dtype.kind == "f"):
        return x
    with np.errstate(over="ignore"):
        cast = array.astype(kind)
    return cast if kind.kind == "f" or (kind.kind in "iu" and np.array_equal(cast, array)) else x
