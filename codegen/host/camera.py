"""A camera's frames through a generated network's own preprocessing, line by line."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.errors import ArenaDamaged, RunFailed
from codegen.host.network import DONE, NEED_MORE, Network
from codegen.ir.quant import Array

_GUARD = 64
_CANARY = 0x5A
_OK = 0


class HostCamera:
    """The preprocessing of a network that was compiled with one; frames are bytes, uint8 in any shape."""

    def __init__(self, net: Network) -> None:
        """Take the functions of the network's library."""
        self.net, self.record = net, net.manifest["preprocess"]
        self._ffi, self._lib = net.ffi, net.lib
        self._state = np.full(self.record["state_bytes"] + 2 * _GUARD, _CANARY, np.uint8)
        if self._lib.lam_host_camera_bytes() != self.record["state_bytes"]:
            raise RunFailed("its preprocessing has another state than the manifest says", where=self._name)

    @property
    def _name(self) -> str:
        return str(self.net.manifest["name"])

    @property
    def _pre(self) -> Any:
        return self._ffi.from_buffer(self._state[_GUARD:-_GUARD])

    def rows(self, frame: Array) -> Array:
        """What the lines of a frame become: input 0 of the network, which does not run."""
        port, stride = self.net.inputs[0], self.record["row_stride"]
        made = np.zeros(port.shape, port.dtype.numpy)
        flat = made.reshape(-1)
        self._lib.lam_host_camera_begin(self._pre, self._ffi.NULL)
        row, lines, status = 0, self._lines(frame), NEED_MORE
        while status != DONE:
            place = (
                self._ffi.from_buffer(flat[row * stride :]) if row < self.record["rows"] else self._ffi.new("char[8]")
            )
            status = self._lib.lam_host_camera_row(self._pre, place)
            row += status == _OK
            if status == NEED_MORE:
                self._checked(self._lib.lam_host_camera_line(self._pre, *next(lines)), (_OK,))
            else:
                self._checked(status, (_OK, DONE))
        self._check_canaries()
        return made

    def run(self, frame: Array) -> dict[str, Array]:
        """One inference on a frame that is pushed line by line: outputs by tensor name."""
        self._lib.lam_host_camera_begin(self._pre, self.net.handle)
        status = NEED_MORE
        for line, chroma in self._lines(frame):
            if status == NEED_MORE:
                status = self._lib.lam_host_camera_push(self._pre, self.net.handle, line, chroma)
                self._checked(status, (NEED_MORE, DONE))
        self._checked(status, (DONE,))
        self._check_canaries()
        return self.net.finished()

    def _lines(self, frame: Array) -> Any:
        """Each line, and the chroma line that goes with it or none, in memory of its own."""
        size, height = self.record["line_bytes"], self.record["height"]
        flat = np.ascontiguousarray(frame, np.uint8).reshape(-1)
        for y in range(height):
            start = height * size + y // 2 * size
            pair = flat[start : start + size].tobytes() if self.record["chroma"] else b""
            line = flat[y * size : (y + 1) * size].tobytes()
            yield self._ffi.from_buffer(line), self._ffi.from_buffer(pair) if pair else self._ffi.NULL

    def _checked(self, status: int, fine: tuple[int, ...]) -> None:
        if status not in fine:
            raise RunFailed(f"preprocessing returned status {status}", where=self._name)

    def _check_canaries(self) -> None:
        around = (self._state[:_GUARD], self._state[-_GUARD:])
        if any((side != _CANARY).any() for side in around):
            raise ArenaDamaged("bytes outside the state of the preprocessing were written", where=self._name)
