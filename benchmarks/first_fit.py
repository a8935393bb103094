"""The first sixty batches of Keras's `fit`, from an empty disk cache, against TensorFlow.

Each contestant is a process of its own, so that nothing is warm.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.figures import Figures, figure, ratio
from benchmarks.first_steps import STEPS, WARM_SECONDS
from benchmarks.process import python
from benchmarks.row import Effort, Row

BATCH: Final = 64


def first_fit(effort: Effort) -> Figures:
    """Time of the first epoch, of sixty batches, and of a batch in the steady state."""
    said: dict[str, list[dict[str, Any]]] = {"ours": [], "tf": []}
    turns = list(said.items())
    for _ in range(effort.rounds(3)):
        for who, answers in turns:
            with TemporaryDirectory() as cache:
                answers.append(python("-m", "benchmarks.first_fit", who, cache=cache).answer)
        turns.reverse()  # on some machines the second of two processes is slower
    firsts, steady = ({w: [s[k] for s in said[w]] for w in said} for k in ("first", "steady"))
    return {
        "ours, 60 batches": figure(firsts["ours"]),
        "tf, 60 batches": figure(firsts["tf"]),
        "first tf / ours": ratio(firsts["tf"], firsts["ours"]),
        "ours, a batch": figure(steady["ours"]),
        "tf, a batch": figure(steady["tf"]),
        "steady tf / ours": ratio(steady["tf"], steady["ours"]),
    }


def _model(keras: Any) -> Any:
    layers = keras.layers
    made = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )
    made.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return made


def main() -> None:
    """The process: train, and print the seconds as JSON. The data are made before the clock."""
    import keras
    import numpy as np

    if sys.argv[1] == "ours":
        import lazytensor.tf

        lazytensor.tf.enable()
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x = rng.random((BATCH * STEPS, 28, 28, 1), np.float32)
    y = rng.integers(0, 10, BATCH * STEPS)
    model, ends = _model(keras), [0.0]
    clock = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: ends.append(time.perf_counter())
    )

    def epoch() -> None:
        model.fit(x, y, batch_size=BATCH, verbose=0, shuffle=False, callbacks=[clock])

    start = time.perf_counter()
    epoch()
    # Not to the end of `fit`: TensorFlow's data set sometimes ends half a second late.
    first = ends[-1] - start
    while time.perf_counter() - start < WARM_SECONDS:
        epoch()
    ends.clear()
    epoch()
    print(json.dumps({"first": first, "steady": median(b - a for a, b in pairwise(ends))}))


def rows() -> list[Row]:
    """The row of `fit`."""
    return [
        Row(
            "first-keras-fit",
            "Keras's `fit`: two convolutions and a dense layer, 64 pictures of 28², Adam",
            "60 batches ≥ 0.8× TF, steady ≥ 1.1×",
            lambda m: m["first tf / ours"] >= 0.8 and m["steady tf / ours"] >= 1.1,
            first_fit,
            ("first tf / ours", "steady tf / ours"),
        )
    ]


if __name__ == "__main__":
    main()
