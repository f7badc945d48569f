"""Small Caffe networks with the structure of published ones, as their files spell it, and random weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from tests.support.caffe import drawn, given, layer

_LRN = "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"


class Grown:
    """A network as it grows: its text and its weights.  Every method gives the name of a blob."""

    def __init__(self, rows: int, columns: int = 0, head: str = "") -> None:
        self.shape = (1, 3, rows, columns or rows)
        self.text, self.blobs = head or given({"data": self.shape}), dict[str, list[Array]]()
        self.is_legacy = False
        self._rng = np.random.default_rng(0)

    def add(self, kind: str, bottoms: str, name: str, told: str = "", *, top: str = "") -> str:
        self.text += layer(name, kind, bottoms, told, top)
        return top or name

    def weighed(self, name: str, *shapes: Sequence[int], size: float = 0.2) -> str:
        self.blobs[name] = [drawn(self._rng, shape, size if i == 0 else 0.2) for i, shape in enumerate(shapes)]
        return name

    def relu(self, x: str) -> str:
        return self.add("ReLU", x, f"relu_{x}", top=x)

    def conv(self, x: str, name: str, channels: tuple[int, int], size: int = 3, told: str = "", group: int = 1) -> str:
        """Of so many channels to so many, keeping the size where `told` says no more."""
        inputs, outputs = channels
        pad = "" if "pad" in told else f"pad: {size // 2}"
        words = f"num_output: {outputs} kernel_size: {size} {pad} group: {group} {told}"
        self.add("Convolution", x, name, f'convolution_param {{ {words} weight_filler {{ type: "xavier" }} }}')
        shapes = [(outputs, inputs // group, size, size), (outputs,)]
        fan = inputs // group * size**2
        return self.weighed(name, *shapes[: 1 if "bias_term: false" in told else 2], size=(2 / fan) ** 0.5)

    def conv_relu(self, x: str, name: str, channels: tuple[int, int], size: int = 3, told: str = "") -> str:
        return self.relu(self.conv(x, name, channels, size, told))

    def normal(self, x: str, channels: int, top: str = "") -> str:
        """BatchNorm, whose statistics are sums over its third blob, and Scale."""
        name, count = top or x, float(self._rng.uniform(1, 999))
        self.add("BatchNorm", x, f"bn_{x}", "batch_norm_param { use_global_stats: true }", top=name)
        self.add("Scale", name, f"scale_{x}", "scale_param { bias_term: true }", top=name)
        spread = (0.5 + self._rng.random(channels)).astype(np.float32)
        self.blobs[f"bn_{x}"] = [drawn(self._rng, (channels,)) * count, spread * count, np.array([count], np.float32)]
        self.blobs[f"scale_{x}"] = [1 + drawn(self._rng, (channels,)), drawn(self._rng, (channels,))]
        return name

    def pool(self, x: str, name: str, told: str = "pool: MAX kernel_size: 3 stride: 2") -> str:
        return self.add("Pooling", x, name, f"pooling_param {{ {told} }}")

    def dense(self, x: str, name: str, inputs: int, outputs: int) -> str:
        self.add("InnerProduct", x, name, f"inner_product_param {{ num_output: {outputs} }}")
        return self.weighed(name, (outputs, inputs), (outputs,), size=inputs**-0.5)

    def ended(self, x: str) -> Grown:
        self.add("Softmax", x, "prob")
        return self


def squeezenet() -> Grown:
    """Fire modules; the classes are a convolution's, with a rim of padding."""
    net = Grown(64)
    x, channels = net.pool(net.conv_relu("data", "conv1", (3, 16), 3, "stride: 2"), "pool1"), 16
    for at, (few, many) in enumerate(((4, 16), (4, 16), (8, 32)), 2):
        name = f"fire{at}"
        squeezed = net.conv_relu(x, f"{name}/squeeze1x1", (channels, few), 1)
        ways = [net.conv_relu(squeezed, f"{name}/expand{n}x{n}", (few, many), n) for n in (1, 3)]
        x, channels = net.add("Concat", " ".join(ways), f"{name}/concat"), 2 * many
        x = net.pool(x, "pool3") if at == 3 else x
    x = net.add("Dropout", x, "drop9", "dropout_param { dropout_ratio: 0.5 }", top=x)
    x = net.conv_relu(x, "conv10", (channels, 10), 1, "pad: 1")
    return net.ended(net.pool(x, "pool10", "pool: AVE global_pooling: true"))


def resnet() -> Grown:
    """Bottlenecks, every convolution with BatchNorm and Scale in place."""
    net = Grown(64)
    x, inputs = net.pool(net.relu(net.normal(net.conv("data", "conv1", (3, 16), 7, "stride: 2"), 16)), "pool1"), 16
    for stage, (channels, stride) in enumerate(((16, 1), (32, 2)), 2):
        for block in "ab":
            name, step = f"res{stage}{block}_branch", f"bias_term: false stride: {stride if block == 'a' else 1}"
            wide = 2 * channels
            way = net.normal(net.conv(x, f"{name}1", (inputs, wide), 1, step), wide) if block == "a" else x
            y = net.relu(net.normal(net.conv(x, f"{name}2a", (inputs, channels), 1, step), channels))
            y = net.relu(net.normal(net.conv(y, f"{name}2b", (channels, channels), 3, "bias_term: false"), channels))
            y = net.normal(net.conv(y, f"{name}2c", (channels, wide), 1, "bias_term: false"), wide)
            x, inputs = net.relu(net.add("Eltwise", f"{way} {y}", f"res{stage}{block}")), wide
    x = net.pool(x, "pool5", "pool: AVE kernel_size: 3 stride: 1")
    return net.ended(net.dense(x, "fc1000", inputs * 36, 10))


def googlenet() -> Grown:
    """Inception modules, LRN, and pools whose last windows lie partly outside."""
    net = Grown(64)
    x = net.pool(net.conv_relu("data", "conv1/7x7_s2", (3, 16), 7, "stride: 2"), "pool1/3x3_s2")
    x = net.conv_relu(net.add("LRN", x, "pool1/norm1", _LRN), "conv2/3x3", (16, 24))
    x, channels = net.pool(net.add("LRN", x, "conv2/norm2", _LRN), "pool2/3x3_s2"), 24
    for name in ("inception_3a", "inception_3b"):
        ways = [net.conv_relu(x, f"{name}/1x1", (channels, 8), 1)]
        for size, few, many in ((3, 6, 12), (5, 4, 8)):
            reduced = net.conv_relu(x, f"{name}/{size}x{size}_reduce", (channels, few), 1)
            ways.append(net.conv_relu(reduced, f"{name}/{size}x{size}", (few, many), size))
        pooled = net.pool(x, f"{name}/pool", "pool: MAX kernel_size: 3 stride: 1 pad: 1")
        ways.append(net.conv_relu(pooled, f"{name}/pool_proj", (channels, 4), 1))
        x, channels = net.add("Concat", " ".join(ways), f"{name}/output"), 32
    x = net.pool(net.pool(x, "pool3/3x3_s2"), "pool5", "pool: AVE kernel_size: 4 stride: 1")
    return net.ended(net.dense(x, "loss3/classifier", channels, 10))


def alexnet() -> Grown:
    """Large windows without padding, groups, LRN, dense layers."""
    net = Grown(67)
    x = net.pool(net.add("LRN", net.conv_relu("data", "conv1", (3, 16), 11, "stride: 4 pad: 0"), "norm1", _LRN), "p1")
    x = net.pool(net.add("LRN", net.relu(net.conv(x, "conv2", (16, 24), 5, group=2)), "norm2", _LRN), "pool2")
    x = net.relu(net.conv(net.conv_relu(x, "conv3", (24, 16)), "conv4", (16, 16), group=2))
    x = net.add("Dropout", net.relu(net.dense(net.pool(x, "pool5"), "fc6", 16, 20)), "drop6", top="fc6")
    return net.ended(net.dense(x, "fc8", 20, 10))


def fcn() -> Grown:
    """Scores of two scales, made larger by Deconvolution, cut by Crop, added with factors."""
    net = Grown(32, 40)
    coarse = net.pool(net.conv_relu("data", "conv1_1", (3, 8), 3, "pad: 10"), "pool1", "kernel_size: 2 stride: 2")
    x = net.pool(net.conv_relu(coarse, "conv2_1", (8, 12)), "pool2", "kernel_size: 2 stride: 2")
    x = larger(net, net.conv(x, "score_fr", (12, 5), 1), "upscore2", 2)
    other = net.conv(coarse, "score_pool1", (8, 5), 1)
    x = net.add("Crop", f"{x} {other}", "score_cut", "crop_param { axis: 2 offset: 1 }")
    x = net.add("Eltwise", f"{x} {other}", "fuse", "eltwise_param { operation: SUM coeff: 1 coeff: 0.01 }")
    net.add("Crop", f"{larger(net, x, 'upscore', 4)} data", "score", "crop_param { axis: 2 offset: 9 }")
    return net


def larger(net: Grown, x: str, name: str, times: int) -> str:
    """Five maps, each by a filter of its own."""
    told = f"num_output: 5 group: 5 bias_term: false kernel_size: {2 * times} stride: {times}"
    net.add("Deconvolution", x, name, f"convolution_param {{ {told} }}")
    return net.weighed(name, (5, 1, 2 * times, 2 * times))


def shufflenet() -> Grown:
    """Groups whose channels are mixed, depthwise layers, PReLU, Slice and Concat."""
    net = Grown(32)
    x = net.pool(net.conv_relu("data", "conv1", (3, 12), 3, "stride: 2"), "pool1")
    y = net.relu(net.conv(x, "resx1_conv1", (12, 12), 1, group=3))
    y = net.add("ShuffleChannel", y, "shuffle1", "shuffle_channel_param { group: 3 }")
    y = net.normal(net.conv(y, "resx1_conv2", (12, 12), group=12), 12)
    x = net.add("Eltwise", f"{x} {net.conv(y, 'resx1_conv3', (12, 12), 1, group=3)}", "resx1_sum")
    net.add("PReLU", x, "prelu", top=x)
    net.weighed("prelu", (12,))
    net.add("Slice", x, "parts", "slice_param { axis: 1 slice_point: 5 }", top="few many")
    x = net.pool(net.add("Concat", "many few", "joined"), "pool_ave", "pool: AVE global_pooling: true")
    return net.ended(net.dense(x, "fc", 12, 4))


def densenet() -> Grown:
    """BatchNorm before the convolution, not in place, and everything that came before beside it."""
    net = Grown(32)
    x, channels = net.conv("data", "conv1", (3, 8), 3, "stride: 2"), 8
    for at in range(3):
        y = net.relu(net.normal(x, channels, f"x{at}/bn"))
        x = net.add("Concat", f"{x} {net.conv(y, f'x{at}', (channels, 4), 3, 'bias_term: false')}", f"concat_{at}")
        channels += 4
    x = net.pool(x, "pool", "pool: AVE global_pooling: true")
    return net.ended(net.conv(x, "fc6", (channels, 5), 1))


def ssd() -> Grown:
    """Two scales with Normalize, PriorBox and Permute, and the detector behind them."""
    net, parts = Grown(48), dict[str, list[str]](loc=[], conf=[], priorbox=[])
    x = net.conv_relu(net.conv_relu("data", "conv1", (3, 16), 3, "stride: 2"), "conv4_3", (16, 16), 3, "stride: 2")
    seen = net.add("Normalize", x, "conv4_3_norm", "norm_param { across_spatial: false channel_shared: false }")
    net.blobs[seen] = [np.full(16, 20, np.float32)]
    last = net.conv_relu(x, "fc7", (16, 24), 3, "stride: 2")
    for x, channels, least, most in ((seen, 16, 10, 20), (last, 24, 20, 30)):
        for what, each in (("loc", 4), ("conf", 3)):
            y = net.conv(x, f"{x}_mbox_{what}", (channels, 4 * each))
            net.blobs[y][0] *= np.float32(0.1)
            y = net.add("Permute", y, f"{y}_perm", "permute_param { order: 0 order: 2 order: 3 order: 1 }")
            parts[what].append(net.add("Flatten", y, f"{y}_flat", "flatten_param { axis: 1 }"))
        told = f"min_size: {least} max_size: {most} aspect_ratio: 2 flip: true clip: false offset: 0.5"
        told += " variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2"
        parts["priorbox"].append(net.add("PriorBox", f"{x} data", f"{x}_priors", f"prior_box_param {{ {told} }}"))
    for what, names in parts.items():
        net.add("Concat", " ".join(names), f"mbox_{what}", f"concat_param {{ axis: {2 if what == 'priorbox' else 1} }}")
    x = net.add("Reshape", "mbox_conf", "conf_rows", "reshape_param { shape { dim: 0 dim: -1 dim: 3 } }")
    x = net.add("Flatten", net.add("Softmax", x, "conf_softmax", "softmax_param { axis: 2 }"), "conf_flat")
    told = "num_classes: 3 share_location: true background_label_id: 0 code_type: CENTER_SIZE keep_top_k: 50"
    told += " confidence_threshold: 0.2 nms_param { nms_threshold: 0.45 top_k: 100 }"
    net.add("DetectionOutput", f"mbox_loc {x} mbox_priorbox", "found", f"detection_output_param {{ {told} }}")
    return net


def first_spelling() -> Grown:
    """Layers and blobs as files of Caffe's first years have them."""
    net = Grown(33, head='input: "data" input_dim: 1 input_dim: 3 input_dim: 33 input_dim: 33\n')
    net.is_legacy = True
    for name, kind, bottoms, told in (
        ("conv1", "CONVOLUTION", "data", "convolution_param { num_output: 8 kernel_size: 5 stride: 2 } blobs_lr: 1"),
        ("relu1", "RELU", "conv1", ""),
        ("pool1", "POOLING", "relu1", "pooling_param { pool: MAX kernel_size: 3 stride: 2 }"),
        ("norm1", "LRN", "pool1", "lrn_param { local_size: 3 alpha: 5e-05 norm_region: WITHIN_CHANNEL }"),
        ("conv2", "CONVOLUTION", "norm1", "convolution_param { num_output: 8 kernel_size: 3 pad: 1 group: 2 }"),
        ("sum", "ELTWISE", "conv2 norm1", "eltwise_param { operation: MAX }"),
        ("joined", "CONCAT", "sum norm1", "concat_param { concat_dim: 1 }"),
        ("flat", "FLATTEN", "joined", ""),
        ("fc", "INNER_PRODUCT", "flat", "inner_product_param { num_output: 6 } weight_decay: 1"),
        ("drop", "DROPOUT", "fc", "dropout_param { dropout_ratio: 0.5 }"),
        ("prob", "SOFTMAX", "drop", ""),
    ):
        net.text += layer(name, kind, bottoms, told).replace(f'"{kind}"', kind).replace("layer {", "layers {")
    net.weighed("conv1", (8, 3, 5, 5), (8,))
    net.weighed("conv2", (8, 4, 3, 3), (8,))
    net.weighed("fc", (6, 784), (6,))
    return net


PUBLISHED: Mapping[str, Callable[[], Grown]] = {
    made.__name__: made
    for made in (squeezenet, resnet, googlenet, alexnet, fcn, shufflenet, densenet, ssd, first_spelling)
}
