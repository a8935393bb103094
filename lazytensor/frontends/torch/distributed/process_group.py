"""A process group for `torch.distributed`, whose collectives are XLA's.

`dist.init_process_group("lazytensor")` makes it. Each process has tensors of its own on the device,
as on any other one, so `DistributedDataParallel` trains. A collective computes what is pending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
import torch.distributed as dist
from torch.futures import Future

from lazytensor import distributed
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.node import Node
from lazytensor.core.trace import collectives
from lazytensor.core.trace.collectives import Ranks
from lazytensor.frontends.torch.distributed import sharding_strategies
from lazytensor.frontends.torch.random.randomness import DEVICE
from lazytensor.frontends.torch.tensors.tensor import is_lazy, node, wrap

Tensors = Sequence[torch.Tensor]
REDUCTION_NAMES: Final = {
    "SUM": "sum",
    "AVG": "sum",
    "PRODUCT": "product",
    "MIN": "min",
    "MAX": "max",
    "BAND": "and",
    "BOR": "or",
    "BXOR": "xor",
}
"""Per name of torch's reductions, ours."""


class Group(dist.ProcessGroup):
    """A group of processes. ranks: their numbers among all."""

    def __init__(self, rank: int, ranks: tuple[int, ...]) -> None:
        super().__init__(rank, len(ranks))
        self.ranks = ranks

    def name(self) -> str:
        """The backend's name."""
        return DEVICE

    def getBackendName(self) -> str:
        """The backend's name."""
        return DEVICE

    @property
    def group_name(self) -> str:
        """The name by which torch's functional collectives find the group."""
        return str(dist.distributed_c10d._world.pg_names[self])

    pg_name = group_name

    def allreduce(self, tensors: Tensors, opts: Any = None) -> Any:
        """Combine each tensor with the other processes'."""
        for x in tensors:
            _copy(x, reduced(collectives.all_reduce, x, _kind(opts), self.ranks))
        return _done(tensors)

    allreduce_coalesced = allreduce

    def reduce(self, tensors: Tensors, opts: Any = None) -> Any:
        """As `allreduce`, for the process `opts.rootRank` alone."""
        for x in tensors:
            made = reduced(collectives.all_reduce, x, _kind(opts), self.ranks)
            if opts.rootRank == self.rank():
                _copy(x, made)
        return _done(tensors)

    def broadcast(self, tensors: Tensors, opts: Any = None) -> Any:
        """Give each tensor the value that the process `opts.rootRank` has."""
        root = self.ranks[0 if opts is None else opts.rootRank]
        for x in tensors:
            _copy(x, wrap(collectives.broadcast(_node(x), root, self.ranks)))
        return _done(tensors)

    def allgather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> Any:
        """Give the tensors of each list the values of all processes."""
        for all_of, x in zip(outputs, inputs, strict=True):
            rows = wrap(collectives.all_gather(_node(x), self.ranks))
            for row, out in zip(rows, all_of, strict=True):
                _copy(out, row)
        return _done(outputs)

    def all_gather_single(self, output: torch.Tensor, x: torch.Tensor, opts: Any = None) -> Any:
        """Give `output` the values of all processes, joined along the first axis."""
        _copy(output, wrap(collectives.all_gather(_node(x), self.ranks)).reshape(output.shape))
        return _done([output])

    _allgather_base = all_gather_single

    def reduce_scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: Any = None) -> Any:
        """Give each tensor its share of the lists of all processes, combined."""
        for out, shares in zip(outputs, inputs, strict=True):
            self.reduce_scatter_single(out, torch.stack(list(shares)), opts)
        return _done(outputs)

    def reduce_scatter_single(self, output: torch.Tensor, x: torch.Tensor, opts: Any = None) -> Any:
        """Give `output` its share, along the first axis, of all processes' values, combined."""
        rows = x.reshape(self.size(), *output.shape)
        _copy(output, reduced(collectives.reduce_scatter, rows, _kind(opts), self.ranks))
        return _done([output])

    _reduce_scatter_base = reduce_scatter_single

    def scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: Any = None) -> Any:
        """Give each tensor its share of the list that the process `opts.rootRank` has."""
        root = self.ranks[opts.rootRank]
        for i, out in enumerate(outputs):
            whole = out.new_zeros((self.size(), *out.shape))
            if opts.rootRank == self.rank():
                whole = torch.stack(list(inputs[i]))
            _copy(out, wrap(collectives.broadcast(_node(whole), root, self.ranks))[self.rank()])
        return _done(outputs)

    def gather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> Any:
        """As `allgather`, for the process `opts.rootRank` alone."""
        for i, x in enumerate(inputs):
            rows = wrap(collectives.all_gather(_node(x), self.ranks))
            if opts.rootRank == self.rank():
                for row, out in zip(rows, outputs[i], strict=True):
                    _copy(out, row)
        return _done(outputs)

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Any:
        """Give each tensor what the process of its number has for this one; of one shape all."""
        rows = wrap(collectives.all_to_all(_node(torch.stack(list(inputs))), self.ranks))
        for row, out in zip(rows, outputs, strict=True):
            _copy(out, row)
        return _done(outputs)

    def all_to_all_single(
        self,
        output: torch.Tensor,
        x: torch.Tensor,
        output_sizes: Sequence[int] | None = None,
        input_sizes: Sequence[int] | None = None,
        opts: Any = None,
    ) -> Any:
        """Exchange parts along the first axis: of these sizes, or equal ones."""
        _copy(output, exchanged(x, output_sizes or (), input_sizes or (), self.ranks))
        return _done([output])

    alltoall_base = all_to_all_single

    def barrier(self, opts: Any = None) -> Any:
        """Return when all processes have called this."""
        self.allreduce([torch.ones(1, device=DEVICE)])
        return _done([])

    def send(self, tensors: Tensors, rank: int, tag: int) -> Any:
        """Raises: Unsupported."""
        raise unsupported("send")

    def recv(self, tensors: Tensors, rank: int, tag: int) -> Any:
        """Raises: Unsupported."""
        raise unsupported("recv")


def reduced(
    collective: Callable[[Node, str, Ranks], Node], x: torch.Tensor, kind: str, ranks: Ranks
) -> torch.Tensor:
    """A collective's result. kind: torch's name of a reduction. Raises: Unsupported."""
    if kind not in REDUCTION_NAMES:
        raise unsupported(f"the reduction {kind}")
    made: torch.Tensor = wrap(collective(_node(x), REDUCTION_NAMES[kind], ranks))
    return made / len(ranks) if kind == "AVG" else made


def exchanged(
    x: torch.Tensor, taken: Sequence[int], sent: Sequence[int], ranks: Ranks
) -> torch.Tensor:
    """This process's parts of all tensors. taken, sent: rows of each part; without: equal parts.

    Raises: ShapeError for sizes that do not fit.
    """
    if not taken and not sent:
        rows = x.reshape(len(ranks), -1)
        return wrap(collectives.all_to_all(_node(rows), ranks)).reshape(x.shape)
    equal = [x.shape[0] // len(ranks)] * len(ranks)
    made: torch.Tensor = wrap(
        collectives.all_to_all_parts(_node(x), sent or equal, taken or equal, ranks)
    )
    return made


def _kind(opts: Any) -> str:
    return "SUM" if opts is None else str(opts.reduceOp.op.name)


def _node(x: torch.Tensor) -> Node:
    with torch.no_grad():
        return node(x if is_lazy(x) else x.to(DEVICE))


def _copy(x: torch.Tensor, value: torch.Tensor) -> None:
    with torch.no_grad():
        x.detach().copy_(value)


def _done(result: Any) -> Any:
    """Torch's object for a collective, which has ended."""
    future: Future[Any] = Future()
    future.set_result(list(result))
    return torch._C._distributed_c10d._create_work_from_future(future)


def unsupported(what: str) -> Unsupported:
    """The error for what processes cannot do."""
    file = "lazytensor/frontends/torch/distributed/process_group.py"
    return Unsupported(f"{what} between processes of the device {DEVICE}; edit {file}")


def _made(given: Any, _: Any) -> Group:
    """The group that torch asks for. All processes are connected now if they were not."""
    size = dist.get_world_size() if dist.is_initialized() else given.group_size
    if distributed.size() == 1 and size > 1:
        distributed.initialize(timeout=given.timeout.total_seconds())
    if distributed.size() != size:
        raise unsupported(f"groups of {size} processes, where {distributed.size()} are connected")
    sharding_strategies.attach()
    return Group(given.group_rank, tuple(given.global_ranks_in_group or range(size)))


def attach() -> None:
    """Let torch make such groups, for tensors of the device and of the CPU."""
    if dist.is_available():
        dist.Backend.register_backend(DEVICE, _made, extended_api=True, devices=[DEVICE, "cpu"])
