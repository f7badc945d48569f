"""Where a place in the network's picture lies in the picture that the data has: the way of resize and crop, back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from codegen.ir.quant import Array
from codegen.preprocess.camera import Camera
from codegen.preprocess.steps import Preprocess, jpeg_size, jpeg_slices
from codegen.records import record


@record(eq=False, slots=False)
class Placing:
    """Of the samples of data that `how` prepares for a network."""

    how: Preprocess
    arrays: Mapping[str, Array]

    @cached_property
    def _files(self) -> list[bytes] | None:
        return jpeg_slices(self.arrays) if "jpeg" in self.arrays and "offset" in self.arrays else None

    def boxes(self, boxes: Array, index: int) -> Array:
        """Corners x, y, x, y in the network's picture as those in the picture of sample `index`."""
        scale, offset = self._way(index)
        return np.asarray(boxes.astype(np.float64) * np.tile(scale, 2) + np.tile(offset, 2))

    def _way(self, index: int) -> tuple[Array, Array]:
        """What x and y are multiplied by, and what is added then."""
        camera, resize = self.how.camera, self.how.resize
        if camera is not None and camera.is_frame(np.asarray(self.arrays["x"][index])):
            return _through(camera)
        if resize is None:
            return np.ones(2), np.zeros(2)
        height, width = self._size(index)
        return np.array([width / resize[1], height / resize[0]]), np.zeros(2)

    def _size(self, index: int) -> tuple[int, int]:
        """Height and width of a sample's picture, which is resized: a file, or with axes H and W."""
        if self._files is not None:
            return jpeg_size(self._files[index], index)
        shape = np.shape(self.arrays["x"])[1:]
        axes = self.how.axes.replace("N", "") or "HWC"
        return int(shape[axes.index("H")]), int(shape[axes.index("W")])


def _through(camera: Camera) -> tuple[Array, Array]:
    """Of a frame whose crop became the inner part of a picture."""
    (top, left, height, width), (inner_top, inner_left, inner_height, inner_width) = camera.window, camera.inner
    scale = np.array([width / inner_width, height / inner_height])
    return scale, np.array([left, top]) - scale * np.array([inner_left, inner_top])
