"""One file of each foreign format that the quantizer reads."""

from __future__ import annotations

import json
from collections.abc import Mapping

_PARAMETERS = {
    "bit_width": 8,
    "method": "maxmin",
    "round_mode": "half_even",
    "symmetry": True,
    "per_channel": False,
    "signed": True,
    "narrow_range": False,
    "scale_type": "float",
    "calib_statistic_method": "max",
}
_VITIS = {
    "include_cle": False,
    "include_bias_corr": False,
    "target_device": "CPU",
    "quantizable_data_type": ["input", "weights", "bias", "activation"],
    "overall_quantize_config": _PARAMETERS,
    "tensor_quantize_config": {"activation": {"method": "mse"}},
    "layer_quantize_config": [
        {
            "layer_type": "torch.nn.Conv2d",
            "layer_name": None,
            "quantizable_data_type": ["weights", "activation"],
            "overall_quantize_config": _PARAMETERS,
            "tensor_quantize_config": {"weights": {"per_channel": True}},
        }
    ],
}
_DOCUMENTS: Mapping[str, object] = {
    "vitis.json": _VITIS,
    "overrides.json": {"a": [{"quant_type": "QUInt16"}], "b": [{"rmin": -1.0, "rmax": 3.0}]},
    "mqbench.json": {"sophgo_tpu": {"x_8": {"threshold": 128.0, "min": -7.0, "max": 9.0}}, "w_qscheme": ""},
    "encodings.json": {"activation_encodings": {"x": [{"bitwidth": 8, "min": -1.0, "max": 1.0}]}},
    "magik.cfg": {"SOC": "T40", "MEAN": [0, 0, 0], "NORMAL": [255.0], "weight_bitwidth": 4, "OUTPUT": ["640"]},
}
FILES: Mapping[str, str] = {
    **{name: json.dumps(document, indent=1) for name, document in _DOCUMENTS.items()},
    "cali_table": "# op_name    threshold      min      max\nimages 1.5 0.0 1.0\n122_Conv 56.4 -102.6 97.7\n",
    "qat_table": "# work_mode:QAT_all_int8\ndata 4.75 -2.1 2.6\nw_weight 2 0.1 0.2 2 0 0\n#int4_op\ndata\n",
    "qtable": "# op_name   quantize_mode\na F16\nb INT8\n",
}
"""Texts by the files' names."""
