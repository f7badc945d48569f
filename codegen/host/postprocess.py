"""What a generated network's own C makes of its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from codegen.errors import ArenaDamaged, RunFailed
from codegen.host.network import Network
from codegen.ir.quant import Array

_GUARD = 64
_CANARY = 0x5A
_TYPES = {"float": np.float32, "int32_t": np.int32}


class HostPostprocess:
    """The postprocessing of a network that was compiled with one, as after a reset."""

    def __init__(self, net: Network) -> None:
        """Take the functions of the network's library."""
        self.net, self.record = net, net.manifest["postprocess"]
        if net.lib.lam_host_post_bytes() != self.record["state_bytes"]:
            raise RunFailed("its postprocessing has another state than the manifest says", where=self._name)
        self._state = np.full(self.record["state_bytes"] + 2 * _GUARD, _CANARY, np.uint8)
        self.reset()

    @property
    def _name(self) -> str:
        return str(self.net.manifest["name"])

    def reset(self) -> None:
        """Forget what was heard."""
        self._state[_GUARD:-_GUARD] = 0

    def found(self) -> dict[str, Array]:
        """What the outputs of the last inference mean, by the names of the members."""
        state = self.net.ffi.from_buffer(self._state[_GUARD:-_GUARD])
        status = self.net.lib.lam_host_post(state, self.net.handle)
        if status != 0:
            raise RunFailed(f"postprocessing returned status {status}", where=self._name)
        if any((side != _CANARY).any() for side in (self._state[:_GUARD], self._state[-_GUARD:])):
            raise ArenaDamaged("bytes outside the state of the postprocessing were written", where=self._name)
        return read_found(self.record, self._state[_GUARD:-_GUARD])

    def of(self, outputs: list[Array]) -> tuple[dict[str, Array], dict[str, Array]]:
        """The same of outputs that are written where the network's lie: what lies there then, and what that means."""
        ffi, lib, ports = self.net.ffi, self.net.lib, self.net.outputs
        for index, array in enumerate(outputs):
            ffi.memmove(ffi.cast("void *", lib.lam_host_output(self.net.handle, index)), array.tobytes(), array.nbytes)
        held = {port.value: self._output(index) for index, port in enumerate(ports)}
        return held, self.found()

    def _output(self, index: int) -> Array:
        port = self.net.outputs[index]
        size = int(np.prod(port.shape)) * port.dtype.bytes
        data = bytes(self.net.ffi.buffer(self.net.lib.lam_host_output(self.net.handle, index), size))
        return np.frombuffer(data, port.dtype.numpy).reshape(port.shape)


def read_found(record: Mapping[str, Any], state: Array, order: Literal["=", "<", ">"] = "=") -> dict[str, Array]:
    """What stands at the beginning of a postprocessing's state, in the byte order of who wrote it."""
    members = [(m["name"], np.dtype(_TYPES[m["ctype"]]).newbyteorder(order), (m["count"],)) for m in record["members"]]
    count = int(state[:4].view(np.dtype(np.int32).newbyteorder(order))[0])
    kind = np.dtype(members)
    found = state[4 : 4 + count * kind.itemsize].copy().view(kind)
    return {m["name"]: _flat(found[m["name"]].astype(_TYPES[m["ctype"]]), m["count"]) for m in record["members"]}


def _flat(array: Array, size: int) -> Array:
    """One number of each where there is one."""
    made: Any = np.ascontiguousarray(array)
    return np.asarray(made.reshape(-1) if size == 1 else made.reshape(-1, size))
