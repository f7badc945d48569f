"""How good a network's answers are: a metric of each name, one that a user's file defines, and what joins them.

Decides: which names there are.  A metric is a line in METRICS; each is judged sample by sample, so that samples may be
run anywhere, and totalled once.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points

from codegen.errors import MetricBad, MetricUnknown
from codegen.metrics.anomaly import Auc
from codegen.metrics.classes import F1, TopClasses
from codegen.metrics.coco import AveragePrecision
from codegen.metrics.function import read_function
from codegen.metrics.metric import Metric, Score, Seen, points_lost
from codegen.metrics.pictures import MeanIoU, Psnr
from codegen.metrics.pooled import PooledArea
from codegen.metrics.words import WordErrors
from codegen.python_files import guarded

METRICS: Mapping[str, Metric] = {
    "top1": TopClasses(1),
    "top5": TopClasses(5),
    "f1": F1(),
    "auc": Auc(),
    "psnr": Psnr(),
    "miou": MeanIoU(),
    "wer": WordErrors(),
    "map": AveragePrecision(),
    "map50": AveragePrecision(1),
    "ap50": AveragePrecision(1, pooled=True),
    "pooled_ap50": PooledArea(),
}


GROUP = "lamina.metrics"
"""Entry points of installed packages: a metric's name, and the object that it is."""


def find_metric(name: str) -> Metric:
    """The metric of a name, the function that FILE.py:NAME defines, or what an installed package calls so.

    Raises:
        MetricUnknown: LAM-API-006, no such name.
        MetricBad: LAM-API-031, a file or function that is none.
    """
    if name in METRICS:
        return METRICS[name]
    if ".py:" in name:
        return read_function(name)
    for entry in entry_points(group=GROUP, name=name):
        with guarded(lambda found: MetricBad(found, where=name)):
            metric: Metric = entry.load()
        return metric
    raise MetricUnknown(f"no metric {name!r}", hint=f"one of {', '.join(METRICS)}, or FILE.py:FUNCTION")


__all__ = ["METRICS", "AveragePrecision", "Metric", "PooledArea", "Score", "Seen", "find_metric", "points_lost"]
