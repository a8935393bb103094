"""A perceptron's step in several processes: torch's DDP over gloo, over ours, and one program.

`OMP_WAIT_POLICY=passive lazytensor launch -n 2 -m benchmarks.ddp`, on an idle machine. Each process
has a batch of 256 of its own; steps are timed in turn, by the process of rank 0.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import lazytensor
import lazytensor.torch

BATCH: Final = 256
ROUNDS, WARM_UP = 60, 15
Step = Callable[[torch.Tensor, torch.Tensor], float]


def network() -> torch.nn.Module:
    """A perceptron of three layers."""
    torch.manual_seed(0)
    layers: list[Any] = [torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)]
    return torch.nn.Sequential(*layers, torch.nn.ReLU(), torch.nn.Linear(512, 10))


def step(net: torch.nn.Module, place: Callable[[torch.Tensor], torch.Tensor]) -> Step:
    """A step of training, its loss read. place: where a batch is put."""
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def run(x: torch.Tensor, labels: torch.Tensor) -> float:
        loss = F.cross_entropy(net(place(x)), place(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return run


def contestants() -> dict[str, Step]:
    """The steps that are timed, by name."""
    gloo = dist.new_group(backend="gloo")
    mesh = lazytensor.Mesh((lazytensor.distributed.device_count(),), ("data",))
    ours = DistributedDataParallel(network().to("lazytensor"))
    return {
        "DDP, gloo, CPU": step(DistributedDataParallel(network(), process_group=gloo), lambda x: x),
        "DDP, lazytensor": step(ours, lambda x: x.to("lazytensor")),
        "data_parallel": step(
            lazytensor.torch.data_parallel(network(), mesh),
            lambda x: lazytensor.torch.from_local(x, mesh, ("data",)),
        ),
    }


def main() -> int:
    """Print the medians."""
    dist.init_process_group("lazytensor")
    steps = contestants()
    torch.manual_seed(dist.get_rank())
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(WARM_UP + ROUNDS):
        x, labels = torch.randn(BATCH, 784), torch.randint(0, 10, (BATCH,))
        for name, run in steps.items():
            start = time.perf_counter()
            run(x, labels)
            seconds[name].append(time.perf_counter() - start)
    first = statistics.median(seconds["DDP, gloo, CPU"][WARM_UP:])
    for name, found in seconds.items():
        took = statistics.median(found[WARM_UP:])
        if dist.get_rank() == 0:
            print(f"{name}: {took * 1e3:.2f} ms a step, {first / took:.2f} times gloo's speed")
    dist.barrier()
    return 0


if __name__ == "__main__":
    sys.exit(main())
