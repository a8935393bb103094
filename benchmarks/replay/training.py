"""`python -m benchmarks.replay.training NAME STEPS`: a training loop of `benchmarks/scripts.py`."""

from __future__ import annotations

import sys

from benchmarks.scripts import SCRIPTS


def main() -> None:
    """Train the script's model for STEPS steps."""
    import torch

    import lazytensor
    import lazytensor.torch

    name, steps = sys.argv[1:]
    torch.manual_seed(0)
    step = next(made for made in SCRIPTS if made.__name__ == name)("lazytensor")
    for _ in range(int(steps)):
        step()
    lazytensor.sync()


if __name__ == "__main__":
    main()
