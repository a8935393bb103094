"""TensorFlow: whole training steps of the issue's models against TF's: eager, functions, `fit`."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.contestant import Contestant
from benchmarks.figures import SHORT, Figures, count, figure, ratio, rest, seconds_of
from benchmarks.raw_ops import tensorflow
from benchmarks.row import Effort, Row
from lazytensor import metrics, settings

MODELS = ("cnn", "resnet", "mobilenet", "transformer", "lstm", "bidirectional", "unet")
DEEP = ("resnet", "mobilenet")
EAGER, FUNCTION, COMPILED = "TF eager", "tf.function", "jit_compile"
FIT, FIT_COMPILED = "fit", "fit, jit_compile"
BATCHES, BATCHES_OF_DEEP = 64, 24  # of an epoch of `fit`
BEGINNING = 4  # batches of an epoch while the data set's threads start
Step = Callable[[], Any]
Timed = Callable[[], float]
"""Does something, and returns the seconds that a step of it took."""
TAKEN_UP = 2  # steps of a turn before those that are measured: caches are the others'
MEASURED = 3  # steps of a turn whose median is what it took


def _fitter(name: str, compiled: bool) -> Timed:
    """An epoch of Keras's own loop over batches of one of the tests' models.

    What an epoch takes to begin (iterators, 20 to 50 ms of TensorFlow's) is no part of its steps.
    """
    tf = tensorflow()
    from tests.tensorflow_frontend.models import TASKS, loss_of

    task = TASKS[name]
    tf.keras.utils.set_random_seed(0)
    model = task.make()
    model.compile("adam", loss_of(task), jit_compile=compiled)
    batches = BATCHES_OF_DEEP if name in DEEP else BATCHES
    x, y = (np.concatenate([part] * batches) for part in (task.x, task.y))
    ends: list[float] = []
    clock = tf.keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: ends.append(perf_counter())
    )

    def epoch() -> float:
        ends.clear()
        size = len(task.x)
        model.fit(x, y, batch_size=size, verbose=0, shuffle=False, callbacks=[clock])
        measured = ends[BEGINNING - 1 :]
        return (measured[-1] - measured[0]) / (len(measured) - 1)

    return epoch


def trainer(name: str, how: str) -> Step:
    """A training step of one of the tests' models, from the batch to the loss."""
    tf = tensorflow()
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

    if how == EAGER:
        return step
    return tf.function(step, jit_compile=how == COMPILED)  # type: ignore[no-any-return]


def _timed(name: str, how: str) -> Timed:
    if how in (FIT, FIT_COMPILED):
        return _fitter(name, compiled=how == FIT_COMPILED)
    step = trainer(name, how)
    return lambda: seconds_of(lambda: float(step()))


def _turn(timed: Timed) -> float:
    """How long a step takes, once some have been made; a rest before each.

    A rest cools caches: what is short is done once more after it, and that is not measured.
    """
    start = perf_counter()
    lengths = [seconds_of(timed) for _ in range(TAKEN_UP)]
    while perf_counter() - start < SHORT:
        lengths.append(seconds_of(timed))
    samples = []
    for _ in range(MEASURED):
        rest()
        if lengths[-1] < SHORT:
            timed()
        samples.append(timed())
    return statistics.median(samples)


def work(name: str, how: str, lazily: bool) -> None:
    """Be a contestant: for each line that is read, a turn, whose seconds are written.

    At the end of input what ours has counted since the second turn is written.
    """
    tensorflow()
    import lazytensor.tf as ltf

    settings.tier = "compile"  # steps as small as these would be interpreted at first
    with ltf.enabled() if lazily else nullcontext():
        timed = _timed(name, how)
        for turn, _ in enumerate(sys.stdin):
            if turn == 1:
                metrics.reset()
            print(json.dumps(_turn(timed)), flush=True)
    counts = metrics.snapshot()
    print(json.dumps({"compiles": counts["compiles"], "fallbacks": counts["fallbacks"]}))


def _contestant(name: str, how: str, lazily: bool) -> Contestant:
    return Contestant(f"from benchmarks.tf_steps import work; work({name!r}, {how!r}, {lazily})")


def contest(name: str, peers: tuple[str, ...], effort: Effort) -> Figures:
    """Ours, made as the first of `peers` is, and TF's, in turns, each in a process of its own."""
    contestants = {"ours": _contestant(name, peers[0], lazily=True)}
    contestants |= {how: _contestant(name, how, lazily=False) for how in peers}
    with ExitStack() as running:
        for each in contestants.values():
            running.enter_context(each)
        turns = {how: each.turn for how, each in contestants.items()}
        rounds = effort.rounds(6 if name in DEEP else 12)
        samples = {how: [turn()] for how, turn in turns.items()}  # compiled here, and not counted
        for i in range(rounds):
            for how in list(turns)[:: -1 if i % 2 else 1]:
                samples[how].append(turns[how]())
        counts = contestants["ours"].end()
    found = {how: figure(values[1:]) for how, values in samples.items()}
    for how in peers:
        found[f"{how} / ours"] = ratio(samples[how][1:], samples["ours"][1:])
    return found | {what: count(value) for what, value in counts.items()}


def _row(name: str, style: str, target: str, least: float, *peers: str) -> Row:
    ratio_ = f"{peers[-1]} / ours"
    return Row(
        f"tf-{style}-{name}",
        f"training step of `{name}`, {style}",
        target,
        lambda m: m[ratio_] >= least and m["compiles"] == m["fallbacks"] == 0,
        lambda effort: contest(name, peers, effort),
        averaged=tuple(f"{peer} / ours" for peer in peers),
    )


def rows() -> list[Row]:
    """The steps of all models, eager ones first."""
    eager = "≥ 0.95× TF eager; mean ≥ 1.3×"
    function = "≥ 0.9× jit_compile; mean ≥ 1.5× tf.function"
    fitting = "≥ 0.9× jit_compile; mean ≥ 1.5× plain `fit`"
    return [
        *(_row(name, "eager", eager, 0.95, EAGER) for name in MODELS),
        *(_row(name, "function", function, 0.9, FUNCTION, COMPILED) for name in MODELS),
        *(_row(name, "fit", fitting, 0.9, FIT, FIT_COMPILED) for name in MODELS),
    ]
