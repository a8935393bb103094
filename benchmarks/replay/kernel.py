"""`python -m benchmarks.replay.kernel SOURCE NAME CALLS`: calls of a kernel of NPBench."""

from __future__ import annotations

import sys
from pathlib import Path

import lazytensor.numpy
from benchmarks.npbench.contest import wait
from benchmarks.npbench.kernel import Call, kernels
from benchmarks.npbench.timed import Timed


def main() -> None:
    """Call the kernel CALLS times."""
    source, name, calls = sys.argv[1:]
    kernel = kernels(Path(source))[name]
    ours = Timed(
        Call(kernel, kernel.function(swapped=True), lazytensor.numpy.array), kernel.data("S"), wait
    )
    for _ in range(int(calls)):
        ours()


if __name__ == "__main__":
    main()
