"""How far the integers of tensors reach, next to what samples showed."""

from __future__ import annotations

import numpy as np

from codegen.quantizer.asked import Asked, asked_of
from codegen.quantizer.calibrate import tensors_of, watched
from codegen.quantizer.config import parse_config
from codegen.quantizer.observe import observe
from codegen.quantizer.places import Places
from codegen.real.elementwise import Function
from codegen.real.engine import RealEngine
from tests.support.float_networks import Maker


def test_wide_integers_leave_activations_room_that_others_have_not() -> None:
    maker = Maker(1)
    maker.conv(4)
    maker.add(Function("LeakyRelu", (("alpha", 0.5),)))
    maker.conv(3)
    graph = maker.done()
    places, last = Places(graph), graph.outputs[0]
    samples = [{"x": np.random.default_rng(seed).normal(0, 1, (1, 3, 6, 6)).astype(np.float32)} for seed in range(4)]

    def asked(bits: int) -> Asked:
        table = {"bits": bits, "symmetric": True}
        stated = [{"name": last, "range": [-9.0, 9.0]}]
        return asked_of(
            parse_config({"quantize": {"input": table, "activation": table}, "tensor": stated}, "x"), places
        )

    seen = watched(places, asked(16))
    observe(graph, samples, RealEngine, seen)
    for bits, most, room in ((8, 127, 1.0), (16, 32767, 2.0)):
        held = tensors_of(places, seen, asked(bits))
        for name, stored in held.items():
            reach = 9.0 if name == last else seen[name].reach * (room if name != "x" else 1.0)
            np.testing.assert_allclose(stored.scale.item() * most, reach, rtol=0.01)
