"""Signal operators with wrong options, shapes or types are refused, each with the id of what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

from codegen.errors import AttributeBad, ModelRejected
from codegen.frontends.tflite import import_tflite
from codegen.frontends.tflite.flex import read_options
from tests.support.signal_cases import options
from tests.support.tflite_models import Model

Build = Callable[[Model], None]
FRAME = {"frame_size": 6, "frame_step": 3, "prefill": True}
STACK = {"num_channels": 4, "stacker_left_context": 1, "stacker_right_context": 1, "stacker_step": 1}
BANK = (np.full(4, 7), np.full(4, 9), np.array([0, 2]), np.array([0, 2]), np.array([2, 2]))


def one(
    name: str, own: bytes, shape: tuple[int, ...], out: tuple[int, ...], kind: str = "int16", made: str = ""
) -> Build:
    """A model of one operator with one input and one output."""

    def build(m: Model) -> None:
        m.op(name, [m.input(shape, kind)], [m.output(out, made or kind)], custom=own)

    return build


def fft(kind: int, length: int) -> bytes:
    return options(T=kind, fft_length=length)


def part(start: int, stop: int) -> bytes:
    return options(start_index=start, end_index=stop)


def added(kind: int, step: int) -> bytes:
    return options(T=kind, frame_step=step)


def flagged(name: str, told: dict[str, int], shape: tuple[int, ...], out: tuple[int, ...]) -> Build:
    """One whose second output is a flag."""

    def build(m: Model) -> None:
        m.op(name, [m.input(shape, "int16")], [m.output(out, "int16"), m.output((), "bool")], custom=options(**told))

    return build


def bank(tables: tuple[np.ndarray, ...], channels: int = 1, out: str = "SignalFilterBankSquareRoot") -> Build:
    """A filter bank of energies, whose sums another operator reads."""

    def build(m: Model) -> None:
        energies, sums = m.tensor((4,), "uint32"), m.tensor((1,), "uint64")
        m.op("CAST", [m.input((4,), "int32")], [energies], "CastOptions", InDataType=2, OutDataType=15)
        read = [m.const(t.astype(np.int16)) for t in tables]
        m.op("SignalFilterBank", [energies, *read], [sums], custom=options(num_channels=channels))
        if out == "RESHAPE":
            m.op(out, [sums, m.const(np.array([1], np.int32))], [m.output((1,), "uint64")], "ReshapeOptions")
        elif out:
            m.op(out, [sums, m.const(np.array(0, np.int32))], [m.output((1,), "uint32")])
        else:
            m.graph.outputs.append(sums)

    return build


def on_words(name: str, own: str) -> Build:
    """An operator of TFLite on numbers of 32 bits without a sign."""

    def build(m: Model) -> None:
        x, wide = m.input((4,), "int32"), m.tensor((4,), "uint32")
        m.op("CAST", [x], [wide], "CastOptions", InDataType=2, OutDataType=15)
        m.op(
            name,
            [wide, wide] if name != "CAST" else [wide],
            [m.output((4,), "float32" if name == "CAST" else "uint32")],
            own,
        )

    return build


LOG = options(input_correction_bits=0, output_scale=1)
WRONG: dict[str, tuple[str, Build]] = {
    "a length that is no power of two": ("LAM-OPS-SIGNAL-09", one("SignalRfft", fft(7, 12), (12,), (14,))),
    "a length of two": ("LAM-OPS-SIGNAL-11", one("SignalIrfft", fft(7, 2), (4,), (2,))),
    "more samples than the length": ("LAM-OPS-001", one("SignalRfft", fft(7, 8), (12,), (10,))),
    "another type than T says": ("LAM-IMPORT-022", one("SignalRfft", fft(2, 8), (8,), (10,))),
    "a transform of real numbers": ("LAM-IMPORT-022", one("SignalRfft", fft(0, 8), (8,), (10,), "float32")),
    "an output of another size": ("LAM-IMPORT-014", one("SignalRfft", fft(7, 8), (8,), (9,))),
    "no options": ("LAM-IMPORT-013", one("SignalEnergy", b"", (8,), (4,), made="uint32")),
    "options that are no flexbuffer": ("LAM-IMPORT-013", one("SignalEnergy", b"1234", (8,), (4,), made="uint32")),
    "an option missing": ("LAM-IMPORT-013", one("SignalEnergy", options(start_index=0), (8,), (4,), made="uint32")),
    "energies outside": ("LAM-OPS-001", one("SignalEnergy", part(0, 5), (8,), (4,), made="uint32")),
    "a delay below 0": ("LAM-IMPORT-013", one("SignalDelay", options(delay_length=-1), (4,), (4,))),
    "a delay of bytes": ("LAM-IMPORT-022", one("SignalDelay", options(delay_length=2), (4,), (4,), "int8")),
    "a window left out": ("LAM-OPS-001", one("SignalWindow", options(shift=1), (4,), (4,))),
    "steps that do not fill the input": ("LAM-IMPORT-014", flagged("SignalFramer", FRAME, (7,), (2, 6))),
    "frames below a step": ("LAM-IMPORT-014", flagged("SignalFramer", FRAME | {"frame_size": 2}, (6,), (2, 2))),
    "a step above all frames": ("LAM-IMPORT-014", flagged("SignalStacker", STACK | {"stacker_step": 4}, (4,), (12,))),
    "another number of channels": ("LAM-IMPORT-014", flagged("SignalStacker", STACK, (3,), (12,))),
    "sums of another type": ("LAM-IMPORT-022", one("SignalOverlapAdd", added(0, 2), (2, 4), (4,))),
    "a step above the frame": ("LAM-OPS-SIGNAL-29", one("SignalOverlapAdd", added(7, 5), (2, 4), (10,))),
    "one frame without its axis": ("LAM-OPS-001", one("SignalOverlapAdd", added(7, 2), (4,), (4,))),
    "channels outside the energies": ("LAM-IMPORT-014", bank((*BANK[:2], np.array([0, 3]), *BANK[3:]))),
    "channels outside the weights": ("LAM-IMPORT-014", bank((*BANK[:3], np.array([-1, 2]), BANK[4]))),
    "more channels than tables": ("LAM-IMPORT-014", bank(BANK, channels=2)),
    "64 bits as an output": ("LAM-IMPORT-019", bank(BANK, out="")),
    "64 bits moved": ("LAM-IMPORT-022", bank(BANK, out="RESHAPE")),
    "words without a sign added": ("LAM-IMPORT-022", on_words("ADD", "AddOptions")),
    "words without a sign as real numbers": ("LAM-IMPORT-022", on_words("CAST", "CastOptions")),
    "words without a sign as an input": (
        "LAM-IMPORT-019",
        one("SignalFilterBankLog", LOG, (4,), (4,), "uint32", "int16"),
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_models_are_refused(what: str, tmp_path: Path) -> None:
    code, build = WRONG[what]
    model = Model()
    build(model)
    path = tmp_path / "m.tflite"
    path.write_bytes(model.bytes())
    with pytest.raises(ModelRejected) as caught:
        import_tflite(path, mode="tflite")
    assert {p.code for p in caught.value.problems()} == {code}


def test_options_are_those_of_the_flatbuffers_package() -> None:
    rng = np.random.default_rng(3)
    for count in range(12):
        reach = 1 << int(rng.integers(3, 62))
        told = {f"option_{i}": int(n) for i, n in enumerate(rng.integers(-reach, reach, count))} | {"flag": True}
        assert dict(read_options(bytes(flexbuffers.Dumps(told)), "here")) == told
    mixed = {"a": 1, "b": 2.5, "c": "text", "d": [1, 2], "e": False}
    assert dict(read_options(bytes(flexbuffers.Dumps(mixed)), "here")) == {"a": 1, "b": 2.5, "e": 0}


def test_real_options_are_those_of_the_flatbuffers_package() -> None:
    rng = np.random.default_rng(5)
    for count in range(1, 12):
        numbers = rng.standard_normal(count) * 10.0 ** rng.integers(-20, 20, count)
        told = {f"option_{i}": float(x if i % 2 else np.float32(x)) for i, x in enumerate(numbers)} | {"flag": True}
        for given in (told, {"only": told["option_0"]}, {**told, "size": 1 << int(rng.integers(62))}):
            read = dict(read_options(bytes(flexbuffers.Dumps(given)), "here"))
            assert read == given
            assert all(isinstance(read[n], type(v)) or n == "flag" for n, v in given.items())


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("width", [4, 8])
def test_real_options_of_both_widths(far: bool, width: int) -> None:
    builder = flexbuffers.Builder()
    with builder.Map():
        builder.Key("x")
        (builder.IndirectFloat if far else builder.Float)(-1.1, width)
    (read,) = read_options(bytes(builder.Finish()), "here").values()
    assert read == (float(np.float32(-1.1)) if width == 4 else -1.1)


def test_damaged_options_are_refused_or_read_as_others() -> None:
    data = options(**FRAME, longer=1 << 40, shorter=-3, real=0.3)
    rng = np.random.default_rng(4)
    for _ in range(3000):
        cut = bytearray(data[: int(rng.integers(0, len(data) + 1))])
        for _ in range(int(rng.integers(0, 4))):
            if cut:
                cut[int(rng.integers(0, len(cut)))] = int(rng.integers(0, 256))
        with suppress(AttributeBad):
            assert all(isinstance(n, int | float) for n in read_options(bytes(cut), "here").values())
