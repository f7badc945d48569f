"""The ONNX package's light models: real topologies whose weights are left out, given seeded ones and quantized.

The files name each weight's shape only.  Here weights become He-normal, batch normalisation becomes a convolution (of
the one before it, or one of its own), local response normalisation and dropout are dropped, and the opset is raised to
one that ONNX Runtime's quantization takes.  The hidden layers of vgg19's classifier become narrower, since the importer
reads no constant of their size.  None of this changes the size of a tensor on an image.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from codegen.ir.quant import Array
from tests.support.networks import he_normal, quantized, small
from tests.support.onnx_files import onnx_model, port

LIGHT = ("densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet", "vgg19")
"""Models that are taken; the two others of the package need nothing that these do not."""
OPSET = 17
_DROPPED = ("Dropout", "LRN")
_HIDDEN = {4096: 1024}
"""Neurons of hidden dense layers: what is there, and what is made of it."""


def light_path(name: str) -> Path:
    """A model of LIGHT, quantized."""
    return quantized(f"light_{name}", lambda: light_model(name))


def light_model(name: str) -> onnx.ModelProto:
    """A model of LIGHT in float, with weights."""
    path = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
    return _Filling(onnx.load(path), name).model()


class _Filling:
    """Rewrites one model, node by node in its order."""

    def __init__(self, source: onnx.ModelProto, name: str) -> None:
        self.source = source.graph
        self.name = name
        self.rng = np.random.default_rng(0)
        self.given = {t.name: numpy_helper.to_array(t) for t in source.graph.initializer}
        self.renamed: dict[str, str] = {}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.readers: dict[str, int] = {}
        for node in source.graph.node:
            for value in node.input:
                self.readers[value] = self.readers.get(value, 0) + 1

    def model(self) -> onnx.ModelProto:
        """The rewritten model."""
        for node in self.source.node:
            self._take(node)
        (given,) = (i for i in self.source.input if i.name not in self.given)
        names = [self.renamed.get(o.name, o.name) for o in self.source.output]
        ends = [port(n) for n in names]
        made = onnx_model(self.nodes, [given], ends, self.constants, sets=OPSET, name=self.name)
        return onnx.shape_inference.infer_shapes(made)

    def _take(self, node: onnx.NodeProto) -> None:
        inputs = [self.renamed.get(i, i) for i in node.input]
        if node.op_type == "ConstantOfShape":
            self.shapes[node.output[0]] = tuple(int(n) for n in self.given[inputs[0]])
        elif node.op_type == "Unsqueeze":
            self.shapes[node.output[0]] = self._shape(inputs[0])
        elif node.op_type == "Reshape" and inputs[0] in self.shapes:
            self.shapes[node.output[0]] = tuple(int(n) for n in self.given[inputs[1]])
        elif node.op_type in _DROPPED:
            self.renamed[node.output[0]] = inputs[0]
        elif node.op_type == "BatchNormalization" or self._is_affine(node):
            self._affine(node, inputs[0], self._shape(inputs[1])[0])
        else:
            self._keep(node, inputs)

    def _shape(self, value: str) -> tuple[int, ...]:
        return self.shapes[value] if value in self.shapes else self.given[value].shape

    def _is_affine(self, node: onnx.NodeProto) -> bool:
        """Whether it is a sum or product with one number per channel."""
        return node.op_type in ("Mul", "Add") and node.input[1] in self.shapes

    def _affine(self, node: onnx.NodeProto, x: str, channels: int) -> None:
        """Numbers near 1 and 0 per channel, put into the convolution that made `x` when nobody else reads that."""
        scale = self.rng.uniform(0.8, 1.2, channels).astype(np.float32)
        shift = small(self.rng, channels)
        maker = next((n for n in reversed(self.nodes) if n.output[0] == x), None)
        if maker is None or maker.op_type != "Conv" or self.readers.get(node.input[0], 0) > 1:
            self._depthwise(node, x, scale, shift)
            return
        weights, bias = maker.input[1], maker.input[2]
        self.constants[weights] = self.constants[weights] * scale.reshape(-1, 1, 1, 1)
        self.constants[bias] = self.constants[bias] * scale + shift
        self.renamed[node.output[0]] = x

    def _depthwise(self, node: onnx.NodeProto, x: str, scale: Array, shift: Array) -> None:
        out = node.output[0]
        self.constants[f"{out}_w"] = scale.reshape(-1, 1, 1, 1)
        self.constants[f"{out}_b"] = shift
        parts = [x, f"{out}_w", f"{out}_b"]
        self.nodes.append(helper.make_node("Conv", parts, [out], name=out, kernel_shape=[1, 1], group=scale.size))
        self.readers[out] = self.readers.get(out, 0)

    def _keep(self, node: onnx.NodeProto, inputs: list[str]) -> None:
        made = onnx.NodeProto()
        made.CopyFrom(node)
        made.name = made.output[0]
        if node.op_type in ("Conv", "Gemm"):
            inputs = self._weighted(node, inputs)
        elif node.op_type == "Sum":
            made.op_type = "Add"
        elif node.op_type == "Softmax":
            del made.attribute[:]
            made.attribute.append(helper.make_attribute("axis", 1))
        for value in inputs[1:]:
            if value in self.given:
                self.constants[value] = self.given[value]
        del made.input[:]
        made.input.extend(inputs)
        self.nodes.append(made)

    def _weighted(self, node: onnx.NodeProto, inputs: list[str]) -> list[str]:
        """The inputs of a convolution or dense layer, weights and bias drawn; each has a bias."""
        x, weights = inputs[:2]
        out = node.output[0]
        shape = self._shape(weights)
        if node.op_type == "Gemm":
            shape = tuple(_HIDDEN.get(n, n) for n in shape)
        self.constants[f"{out}_w"] = he_normal(self.rng, shape)
        self.constants[f"{out}_b"] = small(self.rng, shape[0])
        return [x, f"{out}_w", f"{out}_b"]
