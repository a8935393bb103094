"""TensorFlow: what recording a raw op costs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.figures import Figures, figure, interleaved, ratio, seconds_of
from benchmarks.row import Effort, Row
from lazytensor import sync

BATCH = 200
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "AddV2": lambda raw, x, y: raw.AddV2(x=x, y=y),
    "Relu": lambda raw, x, y: raw.Relu(features=x),
    "Cast": lambda raw, x, y: raw.Cast(x=x, DstT=np.float64),
    "MatMul": lambda raw, x, y: raw.MatMul(a=x, b=y),
    "Sum": lambda raw, x, y: raw.Sum(input=x, axis=[0], keep_dims=True),
    "Reshape": lambda raw, x, y: raw.Reshape(tensor=x, shape=[4, 16]),
    "ConcatV2": lambda raw, x, y: raw.ConcatV2(values=[x, y], axis=0),
    "Softmax": lambda raw, x, y: raw.Softmax(logits=x),
}


def tensorflow() -> Any:
    """TensorFlow without its log, and our frontend."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    import lazytensor.tf  # noqa: F401

    return tf


def record(name: str, effort: Effort) -> Figures:
    """One raw op on 8×8 elements f32: recorded by us, run by TF. The computing is not timed."""
    tf = tensorflow()
    import lazytensor.tf as ltf

    call = CALLS[name]
    x, y = (tf.constant(np.ones((8, 8), np.float32)) for _ in range(2))

    def batch(first: Any, second: Any) -> float:
        kept: list[Any] = []
        raw = tf.raw_ops
        work = lambda: kept.append([call(raw, first, second) for _ in range(BATCH)])  # noqa: E731
        return seconds_of(work) / BATCH

    def ours() -> float:
        with ltf.enabled():
            first, second = (tf.raw_ops.Identity(input=t) for t in (x, y))
            sync()
            seconds = batch(first, second)
            sync()
        return seconds

    samples = interleaved({"ours": ours, "TF": lambda: batch(x, y)}, effort.rounds(40), warmup=3)
    return {
        "ours": figure(samples["ours"]),
        "TF": figure(samples["TF"]),
        "ours / TF": ratio(samples["ours"], samples["TF"]),
    }


def rows() -> list[Row]:
    """What recording costs."""
    return [
        Row(
            f"tf-record-{name}",
            f"record raw op `{name}`, 8×8 elements f32",
            "≤ 2 µs, and below TF eager's own",
            lambda m: m["ours"] <= 2e-6 and m["ours / TF"] <= 1,
            lambda effort, name=name: record(name, effort),
        )
        for name in CALLS
    ]
