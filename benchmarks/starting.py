"""What a user waits for before anything happens: imports, first runs, second processes."""

from __future__ import annotations

import json
import time
from itertools import count as numbers
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.figures import Figures, count, figure, interleaved, ratio
from benchmarks.process import python
from benchmarks.program import EXAMPLES
from benchmarks.row import Effort

SIZE, FRAMES = 1024, 5  # what the script does by default


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
    with TemporaryDirectory() as cache:
        cold = _heavy(cache)
        warm = [_heavy(cache) for _ in range(effort.rounds(5))]
    plain = [python(str(EXAMPLES / "heavy.py")).answer["seconds"] / FRAMES for _ in warm]
    return {
        "first result": figure([said["first"] for said in warm]),
        "compiles": count(max(said["compiles"] for said in warm)),
        "loaded from disk": count(min(said["disk_hits"] for said in warm)),
        "first result, first process": figure([cold["first"]]),
        "compiles, first process": count(cold["compiles"]),
        "NumPy": figure(plain),
    }


def _heavy(cache: str) -> dict[str, Any]:
    return python("-m", "benchmarks.starting", cache=cache).answer


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


def main() -> None:
    """The process whose first picture is timed; jax and the backend are imported before."""
    import lazytensor.backends.xla
    import lazytensor.numpy
    from benchmarks.program import example

    heavy = example("heavy", lazytensor.numpy)
    start = time.perf_counter()
    x, y = heavy.plane(SIZE)
    hills = heavy.range_of_hills()
    frames = []
    for frame in range(FRAMES):
        float(heavy.landscape(x, y, hills, drift=0.02 * frame).sum())
        frames.append(time.perf_counter() - start)
    said = {"first": frames[0], "all": frames[-1], **lazytensor.metrics.snapshot()}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
