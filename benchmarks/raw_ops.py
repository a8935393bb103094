"""TensorFlow: what recording a raw op costs; training steps against TF eager and tf.function."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.figures import Figures, count, figure, interleaved, ratio, seconds_of
from benchmarks.row import Effort, Row
from lazytensor import metrics, settings, sync

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


def _tensorflow() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    import lazytensor.tf  # noqa: F401

    return tf


def record(name: str, effort: Effort) -> Figures:
    """One raw op on 8×8 elements f32: recorded by us, run by TF. The computing is not timed."""
    tf = _tensorflow()
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


def _trainer(name: str, how: str) -> Callable[[], Any]:
    """A training step of one of the tests' models; `how`: eager, function or compiled."""
    tf = _tensorflow()
    from tests.tensorflow_frontend.models import TASKS, loss_of

    task = TASKS[name]
    tf.keras.utils.set_random_seed(0)
    model, measure = task.make(), loss_of(task)
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    x, y = tf.constant(task.x), tf.constant(task.y)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = measure(y, model(x, training=True))
        slopes = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
        return loss

    if how == "eager":
        return step
    return tf.function(step, jit_compile=how == "compiled")  # type: ignore[no-any-return]


def steps(name: str, lazily: str, peers: tuple[str, ...], effort: Effort) -> Figures:
    """A whole training step, from the batch to the loss on the host."""
    _tensorflow()
    import lazytensor.tf as ltf

    settings.tier = "compile"  # steps as small as these would be interpreted at first
    with ltf.enabled():
        ours = _trainer(name, lazily)
        for _ in range(4):
            float(ours())
    theirs = {how: _trainer(name, how) for how in peers}

    def timed(step: Callable[[], Any]) -> Callable[[], float]:
        return lambda: seconds_of(lambda: float(step()))

    # Leaving `enabled` hands variables back to TF, and TF's own operations are slower inside: the
    # contestants do not take turns, but each rests as if they did.
    rounds = effort.rounds(20)
    with ltf.enabled():
        metrics.reset()
        samples = interleaved({"ours": timed(ours)}, rounds)
        counts = metrics.snapshot()
    for how, step in theirs.items():
        samples |= interleaved({how: timed(step)}, rounds, warmup=3)
    found = {how: figure(values) for how, values in samples.items()}
    for how in peers:
        found[f"{how} / ours"] = ratio(samples[how], samples["ours"])
    return found | {"compiles": count(counts["compiles"]), "cuts": count(counts["cuts"])}


MODELS = ("cnn", "unet", "transformer", "lstm", "bidirectional", "mobilenet", "resnet")


def rows() -> list[Row]:
    """The table of the TensorFlow frontend."""
    recorded = [
        Row(
            f"tf-record-{name}",
            f"record raw op `{name}`, 8×8 elements f32",
            "≤ 6 µs, and below TF eager's own",
            lambda m: m["ours"] <= 6e-6 and m["ours / TF"] <= 1,
            lambda effort, name=name: record(name, effort),
        )
        for name in CALLS
    ]
    eager = [
        Row(
            f"tf-step-{name}",
            f"training step of `{name}`, eager style, against TF eager",
            "≥ 0.95×, nothing compiled",
            lambda m: m["eager / ours"] >= 0.95 and m["compiles"] == 0,
            lambda effort, name=name: steps(name, "eager", ("eager",), effort),
        )
        for name in MODELS
    ]
    functions = [
        Row(
            f"tf-function-{name}",
            f"training step of `{name}` as a tf.function, against tf.function",
            "≥ 0.9× jit_compile, nothing compiled",
            lambda m: m["compiled / ours"] >= 0.9 and m["compiles"] == 0,
            lambda effort, name=name: steps(name, "function", ("function", "compiled"), effort),
        )
        for name in MODELS
    ]
    return recorded + eager + functions
