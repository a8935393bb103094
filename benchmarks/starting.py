"""What a user waits for before anything happens: imports, first runs, second processes."""

from __future__ import annotations

import json
import time
from itertools import count as numbers
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure, Figures, count, figure, interleaved, ratio
from benchmarks.process import Ended, python
from benchmarks.program import EXAMPLES
from benchmarks.row import Effort


def small_programs(effort: Effort) -> Figures:
    """The whole process of fifty small programs, each time with an empty disk cache."""
    script = str(EXAMPLES / "many_small.py")
    with TemporaryDirectory() as folder:
        fresh = (Path(folder) / str(n) for n in numbers())
        contestants = {
            "ours": lambda: python("-m", "lazytensor", "run", script, cache=next(fresh)).seconds,
            "numpy": lambda: python(script).seconds,
        }
        samples = interleaved(contestants, effort.rounds(7))
    return {
        "ours": figure(samples["ours"]),
        "NumPy": figure(samples["numpy"]),
        "ours / NumPy": ratio(samples["ours"], samples["numpy"]),
    }


def second_process(effort: Effort) -> Figures:
    """The first result of a long formula when an earlier process has compiled it."""

    def run(cache: str) -> Ended:
        return python("-m", "benchmarks.starting", cache=cache)

    with TemporaryDirectory() as cache:
        cold = run(cache)
        run(cache)
        warm = [run(cache).answer for _ in range(effort.rounds(5))]
    plain = [python(str(EXAMPLES / "heavy.py")).answer["seconds"] for _ in warm]
    return {
        "cold": _once(cold.answer["seconds"]),
        "cold compiles": count(cold.answer["compiles"]),
        "warm": figure([answer["seconds"] for answer in warm]),
        "warm compiles": count(max(answer["compiles"] for answer in warm)),
        "loaded from disk": count(min(answer["disk_hits"] for answer in warm)),
        "NumPy": figure(plain),
    }


def importing(effort: Effort) -> Figures:
    """What `import lazytensor.numpy` adds to `import numpy`."""
    contestants = {
        "ours": lambda: python("-c", "import lazytensor.numpy").seconds,
        "numpy": lambda: python("-c", "import numpy").seconds,
    }
    samples = interleaved(contestants, effort.rounds(7))
    pairs = zip(samples["ours"], samples["numpy"], strict=True)
    return {
        "added": figure([ours - theirs for ours, theirs in pairs]),
        "ours": figure(samples["ours"]),
        "NumPy": figure(samples["numpy"]),
    }


def _once(seconds: float) -> Figure:
    return Figure(seconds, seconds, seconds)


def main() -> None:
    """The process whose first result is timed; jax is imported before the clock starts."""
    import jax.numpy  # noqa: F401

    import lazytensor
    import lazytensor.numpy
    from benchmarks.program import example

    heavy = example("heavy", lazytensor.numpy)
    start = time.perf_counter()
    picture = heavy.kaleidoscope(*heavy.plane(1024), 30)
    checksum = float(picture.sum())
    seconds = time.perf_counter() - start
    counts = lazytensor.metrics.snapshot()
    print(json.dumps({"seconds": seconds, "checksum": checksum, **counts}))


if __name__ == "__main__":
    main()
