"""The messages of Caffe's network files, as protobuf knows them at run time.

Decides: which fields a prototxt may have.  The numbers are those of the format, which only binary files use; fields of
forks that only texts have got numbers of their own.
Source: the names, numbers and defaults of Caffe's network files, and of SSD's.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf import (  # type: ignore[import-untyped,unused-ignore]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

_PACKAGE = "caffe"
_ENUMS: Mapping[str, str] = {
    "Phase": "TRAIN TEST",
    "Engine": "DEFAULT CAFFE CUDNN",
    "Pool": "MAX AVE STOCHASTIC",
    "Round": "CEIL FLOOR",
    "Eltwise": "PROD SUM MAX",
    "Region": "ACROSS_CHANNELS WITHIN_CHANNEL",
    "Reduction": "_ SUM ASUM SUMSQ MEAN",
    "Normalize": "FULL VALID BATCH_SIZE NONE",
    "Norm": "_ L1 L2",
    "Database": "LEVELDB LMDB",
    "Variance": "FAN_IN FAN_OUT AVERAGE",
    "Share": "STRICT PERMISSIVE",
    "Code": "_ CORNER CENTER_SIZE CORNER_SIZE",
    "V1Type": (
        "NONE ACCURACY BNLL CONCAT CONVOLUTION DATA DROPOUT EUCLIDEAN_LOSS FLATTEN HDF5_DATA HDF5_OUTPUT IM2COL"
        " IMAGE_DATA INFOGAIN_LOSS INNER_PRODUCT LRN MULTINOMIAL_LOGISTIC_LOSS POOLING RELU SIGMOID SOFTMAX"
        " SOFTMAX_LOSS SPLIT TANH WINDOW_DATA ELTWISE POWER SIGMOID_CROSS_ENTROPY_LOSS HINGE_LOSS MEMORY_DATA ARGMAX"
        " THRESHOLD DUMMY_DATA SLICE MVN ABSVAL SILENCE CONTRASTIVE_LOSS EXP DECONVOLUTION"
    ),
}
"""Words in the order of their numbers, from 0; `_` stands for a number that has none."""

_MESSAGES: Mapping[str, str] = {
    "BlobShape": "dim=1:int64*",
    "BlobProto": (
        "num=1:int32 channels=2:int32 height=3:int32 width=4:int32 data=5:float* diff=6:float* shape=7:BlobShape"
        " double_data=8:double* double_diff=9:double*"
    ),
    "Filler": (
        "type=1:string value=2:float min=3:float max=4:float mean=5:float std=6:float sparse=7:int32"
        " variance_norm=8:Variance"
    ),
    "NetState": "phase=1:Phase level=2:int32 stage=3:string*",
    "NetStateRule": "phase=1:Phase min_level=2:int32 max_level=3:int32 stage=4:string* not_stage=5:string*",
    "ParamSpec": "name=1:string share_mode=2:Share lr_mult=3:float decay_mult=4:float",
    "Transform": (
        "scale=1:float mirror=2:bool crop_size=3:uint32 mean_file=4:string mean_value=5:float* force_color=6:bool"
        " force_gray=7:bool"
    ),
    "Loss": "ignore_label=1:int32 normalize=2:bool normalization=3:Normalize",
    "Accuracy": "top_k=1:uint32 axis=2:int32 ignore_label=3:int32",
    "ArgMax": "out_max_val=1:bool top_k=2:uint32=1 axis=3:int32",
    "Concat": "concat_dim=1:uint32=1 axis=2:int32=1",
    "BatchNorm": "use_global_stats=1:bool moving_average_fraction=2:float eps=3:float=1e-5",
    "Bias": "axis=1:int32=1 num_axes=2:int32=1 filler=3:Filler",
    "Contrastive": "margin=1:float legacy_version=2:bool",
    "Convolution": (
        "num_output=1:uint32 bias_term=2:bool=true pad=3:uint32* kernel_size=4:uint32* group=5:uint32=1"
        " stride=6:uint32* weight_filler=7:Filler bias_filler=8:Filler pad_h=9:uint32 pad_w=10:uint32"
        " kernel_h=11:uint32 kernel_w=12:uint32 stride_h=13:uint32 stride_w=14:uint32 engine=15:Engine axis=16:int32=1"
        " force_nd_im2col=17:bool dilation=18:uint32*"
    ),
    "Crop": "axis=1:int32=2 offset=2:uint32*",
    "Data": (
        "source=1:string scale=2:float mean_file=3:string batch_size=4:uint32 crop_size=5:uint32 mirror=6:bool"
        " rand_skip=7:uint32 backend=8:Database force_encoded_color=9:bool prefetch=10:uint32"
    ),
    "Dropout": "dropout_ratio=1:float scale_train=2:bool",
    "DummyData": (
        "data_filler=1:Filler* num=2:uint32* channels=3:uint32* height=4:uint32* width=5:uint32* shape=6:BlobShape*"
    ),
    "EltwiseOf": "operation=1:Eltwise=SUM coeff=2:float* stable_prod_grad=3:bool",
    "Elu": "alpha=1:float=1",
    "Exp": "base=1:float=-1 scale=2:float=1 shift=3:float=0",
    "Flatten": "axis=1:int32=1 end_axis=2:int32=-1",
    "Hdf5Data": "source=1:string batch_size=2:uint32 shuffle=3:bool",
    "Hdf5Output": "file_name=1:string",
    "Hinge": "norm=1:Norm",
    "ImageData": (
        "source=1:string scale=2:float mean_file=3:string batch_size=4:uint32 crop_size=5:uint32 mirror=6:bool"
        " rand_skip=7:uint32 shuffle=8:bool new_height=9:uint32 new_width=10:uint32 is_color=11:bool"
        " root_folder=12:string"
    ),
    "Infogain": "source=1:string axis=2:int32",
    "InnerProduct": (
        "num_output=1:uint32 bias_term=2:bool=true weight_filler=3:Filler bias_filler=4:Filler axis=5:int32=1"
        " transpose=6:bool"
    ),
    "Input": "shape=1:BlobShape*",
    "Log": "base=1:float=-1 scale=2:float=1 shift=3:float=0",
    "Lrn": (
        "local_size=1:uint32=5 alpha=2:float=1 beta=3:float=0.75 norm_region=4:Region=ACROSS_CHANNELS k=5:float=1"
        " engine=6:Engine"
    ),
    "MemoryData": "batch_size=1:uint32 channels=2:uint32 height=3:uint32 width=4:uint32",
    "Mvn": "normalize_variance=1:bool=true across_channels=2:bool eps=3:float=1e-9",
    "Parameter": "shape=1:BlobShape",
    "Pooling": (
        "pool=1:Pool=MAX kernel_size=2:uint32 stride=3:uint32=1 pad=4:uint32=0 kernel_h=5:uint32 kernel_w=6:uint32"
        " stride_h=7:uint32 stride_w=8:uint32 pad_h=9:uint32 pad_w=10:uint32 engine=11:Engine global_pooling=12:bool"
        " round_mode=13:Round=CEIL ceil_mode=1013:bool=true"
    ),
    "Power": "power=1:float=1 scale=2:float=1 shift=3:float=0",
    "PRelu": "filler=1:Filler channel_shared=2:bool",
    "Python": "module=1:string layer=2:string param_str=3:string share_in_parallel=4:bool",
    "ReductionOf": "operation=1:Reduction=SUM axis=2:int32=0 coeff=3:float=1",
    "Relu": "negative_slope=1:float=0 engine=2:Engine",
    "Reshape": "shape=1:BlobShape axis=2:int32=0 num_axes=3:int32=-1",
    "Scale": "axis=1:int32=1 num_axes=2:int32=1 filler=3:Filler bias_term=4:bool bias_filler=5:Filler",
    "Sigmoid": "engine=1:Engine",
    "Slice": "slice_dim=1:uint32=1 slice_point=2:uint32* axis=3:int32=1",
    "Softmax": "engine=1:Engine axis=2:int32=1",
    "Tanh": "engine=1:Engine",
    "Threshold": "threshold=1:float=0",
    "Tile": "axis=1:int32=1 tiles=2:int32",
    "WindowData": (
        "source=1:string scale=2:float mean_file=3:string batch_size=4:uint32 crop_size=5:uint32 mirror=6:bool"
        " fg_threshold=7:float bg_threshold=8:float fg_fraction=9:float context_pad=10:uint32 crop_mode=11:string"
        " cache_images=12:bool root_folder=13:string"
    ),
    "Interp": (
        "height=1:int32 width=2:int32 zoom_factor=3:int32=1 shrink_factor=4:int32=1 pad_beg=5:int32=0 pad_end=6:int32=0"
    ),
    "Normalized": "across_spatial=1:bool=true scale_filler=2:Filler channel_shared=3:bool=true eps=4:float=1e-10",
    "Permute": "order=1:uint32*",
    "PriorBox": (
        "min_size=1:float* max_size=2:float* aspect_ratio=3:float* flip=4:bool=true clip=5:bool variance=6:float*"
        " img_size=7:uint32 img_h=8:uint32 img_w=9:uint32 step=10:float step_h=11:float step_w=12:float"
        " offset=13:float=0.5"
    ),
    "Suppression": "nms_threshold=1:float=0.3 top_k=2:int32=-1 eta=3:float=1",
    "SaveOutput": (
        "output_directory=1:string output_name_prefix=2:string output_format=3:string label_map_file=4:string"
        " name_size_file=5:string num_test_image=6:uint32"
    ),
    "DetectionOutput": (
        "num_classes=1:uint32 share_location=2:bool=true background_label_id=3:int32=0 nms_param=4:Suppression"
        " save_output_param=5:SaveOutput code_type=6:Code=CORNER variance_encoded_in_target=8:bool"
        " keep_top_k=7:int32=-1 confidence_threshold=9:float visualize=10:bool visualize_threshold=11:float"
        " save_file=12:string"
    ),
    "ShuffleChannel": "group=1:uint32=1",
    "Upsample": (
        "scale=1:int32=2 scale_h=2:int32 scale_w=3:int32 pad_out_h=4:bool pad_out_w=5:bool upsample_h=6:int32"
        " upsample_w=7:int32"
    ),
    "LayerParameter": (
        "name=1:string type=2:string bottom=3:string* top=4:string* loss_weight=5:float* param=6:ParamSpec*"
        " blobs=7:BlobProto* include=8:NetStateRule* exclude=9:NetStateRule* phase=10:Phase propagate_down=11:bool*"
        " transform_param=100:Transform loss_param=101:Loss accuracy_param=102:Accuracy argmax_param=103:ArgMax"
        " concat_param=104:Concat contrastive_loss_param=105:Contrastive convolution_param=106:Convolution"
        " data_param=107:Data dropout_param=108:Dropout dummy_data_param=109:DummyData eltwise_param=110:EltwiseOf"
        " exp_param=111:Exp hdf5_data_param=112:Hdf5Data hdf5_output_param=113:Hdf5Output hinge_loss_param=114:Hinge"
        " image_data_param=115:ImageData infogain_loss_param=116:Infogain inner_product_param=117:InnerProduct"
        " lrn_param=118:Lrn memory_data_param=119:MemoryData mvn_param=120:Mvn pooling_param=121:Pooling"
        " power_param=122:Power relu_param=123:Relu sigmoid_param=124:Sigmoid softmax_param=125:Softmax"
        " slice_param=126:Slice tanh_param=127:Tanh threshold_param=128:Threshold window_data_param=129:WindowData"
        " python_param=130:Python prelu_param=131:PRelu reshape_param=133:Reshape log_param=134:Log"
        " flatten_param=135:Flatten reduction_param=136:ReductionOf tile_param=138:Tile batch_norm_param=139:BatchNorm"
        " elu_param=140:Elu bias_param=141:Bias scale_param=142:Scale input_param=143:Input crop_param=144:Crop"
        " parameter_param=145:Parameter permute_param=202:Permute prior_box_param=203:PriorBox"
        " detection_output_param=204:DetectionOutput norm_param=206:Normalized interp_param=2001:Interp"
        " shuffle_channel_param=2002:ShuffleChannel upsample_param=2003:Upsample"
    ),
    "V1LayerParameter": (
        "bottom=2:string* top=3:string* name=4:string type=5:V1Type blobs=6:BlobProto* blobs_lr=7:float*"
        " weight_decay=8:float* concat_param=9:Concat convolution_param=10:Convolution data_param=11:Data"
        " dropout_param=12:Dropout hdf5_data_param=13:Hdf5Data hdf5_output_param=14:Hdf5Output"
        " image_data_param=15:ImageData infogain_loss_param=16:Infogain inner_product_param=17:InnerProduct"
        " lrn_param=18:Lrn pooling_param=19:Pooling window_data_param=20:WindowData power_param=21:Power"
        " memory_data_param=22:MemoryData argmax_param=23:ArgMax eltwise_param=24:EltwiseOf"
        " threshold_param=25:Threshold dummy_data_param=26:DummyData accuracy_param=27:Accuracy"
        " hinge_loss_param=29:Hinge relu_param=30:Relu slice_param=31:Slice include=32:NetStateRule*"
        " exclude=33:NetStateRule* mvn_param=34:Mvn loss_weight=35:float* transform_param=36:Transform"
        " tanh_param=37:Tanh sigmoid_param=38:Sigmoid softmax_param=39:Softmax contrastive_loss_param=40:Contrastive"
        " exp_param=41:Exp loss_param=42:Loss param=1001:string* blob_share_mode=1002:Share*"
    ),
    "NetParameter": (
        "name=1:string layers=2:V1LayerParameter* input=3:string* input_dim=4:int32* force_backward=5:bool"
        " state=6:NetState debug_info=7:bool input_shape=8:BlobShape* layer=100:LayerParameter*"
    ),
}
"""By message `name=number:type`, `*` behind the type of a list, `=` before the value of a field that is not there."""


@functools.cache
def message_class(name: str) -> Any:
    """The class of one message."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


@functools.cache
def _pool() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="caffe-network", package=_PACKAGE, syntax="proto2")
    for name, words in _ENUMS.items():  # each in a message of its own, where no other one has its words
        file.message_type.add(name=f"{name}Words").enum_type.add(name="Word").value.extend(_values(words))
    for name, fields in _MESSAGES.items():
        file.message_type.add(name=name).field.extend(map(_field, fields.split()))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _values(words: str) -> Iterator[Any]:
    numbered = ((number, word) for number, word in enumerate(words.split()) if word != "_")
    return (descriptor_pb2.EnumValueDescriptorProto(name=word, number=number) for number, word in numbered)


def _field(text: str) -> Any:
    """One field of `_MESSAGES`."""
    name, rest = text.split("=", 1)
    number, rest = rest.split(":")
    kind, _, default = rest.partition("=")
    made = descriptor_pb2.FieldDescriptorProto(name=name, number=int(number))
    made.label = made.LABEL_REPEATED if kind.endswith("*") else made.LABEL_OPTIONAL
    kind = kind.rstrip("*")
    made.type = getattr(made, f"TYPE_{_wire_type(kind)}")
    if kind in _MESSAGES or kind in _ENUMS:
        made.type_name = f".{_PACKAGE}.{kind}{'Words.Word' if kind in _ENUMS else ''}"
    if default:
        made.default_value = default
    made.options.packed = made.label == made.LABEL_REPEATED and name in _PACKED
    return made


_PACKED = ("data", "diff", "double_data", "double_diff", "dim")
"""Lists that are one run of bytes."""


def _wire_type(kind: str) -> str:
    return "MESSAGE" if kind in _MESSAGES else "ENUM" if kind in _ENUMS else kind.upper()
