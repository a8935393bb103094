"""`torch.distributed` over the device's process group: what torch's own gloo gives on the CPU."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.core.processes import launch, said_by

COLLECTIVES = """
    import json
    import torch
    import torch.distributed as dist
    import lazytensor.torch

    dist.init_process_group("lazytensor")
    me, n = dist.get_rank(), dist.get_world_size()
    every, half = list(range(n)), [0, n - 1]
    groups = {
        ("lazytensor", "all"): dist.group.WORLD,
        ("gloo", "all"): dist.new_group(every, backend="gloo"),
        ("lazytensor", "some"): dist.new_group(half),
        ("gloo", "some"): dist.new_group(half, backend="gloo"),
    }
    OPS = dist.ReduceOp

    def value(dtype=torch.float32, rows=4):
        x = torch.arange(rows * 3).reshape(rows, 3) % 5 - 2
        return (x * (me + 1)).to(dtype)

    def reduced(device, group, op, dtype):
        x = value(dtype).abs().to(device) if dtype is torch.int32 else value(dtype).to(device)
        dist.all_reduce(x, op, group=group)
        return x

    def lists(device, size):
        return [torch.empty(4, 3, device=device) for _ in range(size)]

    def gathered(device, group, op, dtype):
        found = lists(device, group.size())
        dist.all_gather(found, value().to(device), group=group)
        whole = torch.empty(group.size() * 4, 3, device=device)
        dist.all_gather_into_tensor(whole, value().to(device), group=group)
        return torch.cat([*found, whole])

    def scattered(device, group, op, dtype):
        size = group.size()
        out = torch.empty(2, 3, device=device)
        dist.reduce_scatter_tensor(out, value(rows=2 * size).to(device), op, group=group)
        other = torch.empty(2, 3, device=device)
        dist.reduce_scatter(other, list(value(rows=2 * size).to(device).split(2)), op, group=group)
        return torch.cat([out, other])

    def rooted(device, group, op, dtype):
        x, y = value().to(device), value().to(device)
        dist.broadcast(x, n - 1, group=group)
        dist.reduce(y, n - 1, op, group=group)
        if me != n - 1:
            y.zero_()  # torch leaves it undefined
        parts = list(value(rows=4 * group.size()).to(device).split(4)) if me == 0 else None
        out = torch.empty(4, 3, device=device)
        dist.scatter(out, parts, 0, group=group)
        found = lists(device, group.size()) if me == 0 else None
        dist.gather(value().to(device), found, 0, group=group)
        return torch.cat([x, y, out, *(found or [])])

    def exchanged(device, group, op, dtype):
        x = value(rows=2 * group.size()).to(device)
        single = torch.empty_like(x)
        dist.all_to_all_single(single, x, group=group)
        if device == "lazytensor":  # gloo has no lists
            several = [torch.empty(2, 3, device=device) for _ in range(group.size())]
            dist.all_to_all(several, list(x.split(2)), group=group)
            assert torch.equal(torch.cat(several), single)
        return single

    def uneven(device, group, op, dtype):
        size, at = group.size(), group.rank()
        sent = [(at + 2 * i) % 4 for i in range(size)]
        taken = [(i + 2 * at) % 4 for i in range(size)]
        x, out = value(rows=sum(sent)).to(device), torch.empty(sum(taken), 3, device=device)
        dist.all_to_all_single(out, x, taken, sent, group=group)
        return out

    def objects(device, group, op, dtype):
        found = [None] * group.size()
        dist.all_gather_object(found, {"rank": me, "text": "x" * me}, group=group)
        dist.barrier(group=group)
        return torch.tensor([len(one["text"]) for one in found])

    CASES = {f"all_reduce {op} {t}": (reduced, getattr(OPS, op), getattr(torch, t))
        for op, t in [("SUM", "float32"), ("SUM", "float64"), ("PRODUCT", "float32"),
            ("MIN", "float32"), ("MAX", "int64"), ("BAND", "int32"), ("BOR", "int32"),
            ("BXOR", "int32"), ("SUM", "bfloat16")]}
    for function in (gathered, scattered, rooted, exchanged, uneven, objects):
        CASES[function.__name__] = function, OPS.SUM, torch.float32
    found = {}
    for name, case in CASES.items():
        for which, members in (("all", every), ("some", half)):
            if me in members:
                ours = case[0]("lazytensor", groups["lazytensor", which], *case[1:]).cpu()
                theirs = case[0]("cpu", groups["gloo", which], *case[1:])
                same = torch.allclose(ours, theirs, rtol=1e-6, atol=0)
                found[f"{name}, {which}"] = "same" if same else str((ours, theirs))
    x = torch.ones(4, device="lazytensor")
    dist.all_reduce(x, OPS.AVG)
    found["AVG"] = "same" if x.tolist() == [1] * 4 else str(x)
    try:
        dist.send(x, (me + 1) % n)
    except NotImplementedError as error:
        is_named = str(error).startswith("send") and "process_group.py" in str(error)
        found["send"] = "same" if is_named else str(error)
    try:
        dist.all_to_all_single(torch.empty(3), torch.empty(3), [1, 1, 1], [me, 1, 2 - me])
    except ValueError as error:
        found["sizes"] = "same" if "were expected" in str(error) else str(error)
    print(json.dumps(found))
    """


def test_collectives_give_what_gloo_gives(tmp_path: Path) -> None:
    done = launch(COLLECTIVES, 3, 1, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for rank in range(3):
        found = json.loads(said_by(rank, done.stdout)[-1])
        assert len(found) > 15
        assert {name: text for name, text in found.items() if text != "same"} == {}


BEGIN = """
    import json, os, sys
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn import functional as F
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor import parallel

    backend, device = sys.argv[1], "lazytensor" if sys.argv[1] == "lazytensor" else "cpu"
    if backend == "lazytensor":
        import lazytensor.torch
    dist.init_process_group(backend)
    me, n, found, results = dist.get_rank(), dist.get_world_size(), [], []
    torch.manual_seed(0)
    """
TRAINING = {
    "DistributedDataParallel": """
    net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.GELU(), nn.Linear(32, 4))
    net = nn.parallel.DistributedDataParallel(net.to(device))
    optimizer = torch.optim.AdamW(net.parameters(), 0.01)
    for _ in range(5):
        x, labels = torch.randn(32, 8)[me::n], torch.randint(0, 4, (32,))[me::n]
        loss = F.cross_entropy(net(x.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        found.append(mean.item() / n)
    """,
    "parallel plans of a transformer's block": """
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(16), nn.LayerNorm(16)
            self.q, self.k, self.v, self.out = (nn.Linear(16, 16) for _ in range(4))
            self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)

        def forward(self, x):
            y = self.first(x)
            heads = (m(y).unflatten(-1, (-1, 4)).transpose(1, 2) for m in (self.q, self.k, self.v))
            a = F.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + self.out(a.transpose(1, 2).flatten(2))
            return x + self.down(F.gelu(self.up(self.second(x))))

    net, mesh = Block().to(device), init_device_mesh(device, (n,))
    x, y = torch.randn(4, 8, 16).to(device), torch.randn(4, 8, 16).to(device)
    columns = {name: parallel.ColwiseParallel() for name in ("q", "k", "v", "up")}
    rows = {name: parallel.RowwiseParallel() for name in ("out", "down")}
    parallel.parallelize_module(net, mesh, columns | rows)
    optimizer = torch.optim.AdamW(net.parameters(), 0.01, foreach=False)
    for _ in range(4):
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    assert isinstance(net.q.weight, DTensor)
    found.append(net.q.weight.detach().full_tensor().double().sum().item())
    """,
    "fully_shard, also copied along another axis": """
    from torch.distributed.fsdp import fully_shard

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 32), nn.Linear(32, 8)

        def forward(self, x):
            return x + self.down(F.gelu(self.up(self.norm(x))))

    mesh = init_device_mesh(device, (2, 2), mesh_dim_names=("copies", "parts"))
    net = nn.Sequential(nn.Embedding(20, 8), Residual(), nn.Linear(8, 20)).to(device)
    fully_shard(net[1], mesh=mesh)
    fully_shard(net, mesh=mesh)
    optimizer = torch.optim.AdamW(net.parameters(), 0.01)
    for _ in range(2):
        for is_last in (False, True):
            words = torch.randint(0, 20, (8, 6))[me::n].to(device)
            net.set_requires_gradient_sync(is_last)
            guessed = net(words)[:, :-1].flatten(0, 1)
            F.cross_entropy(guessed, words[:, 1:].flatten()).backward()
        found.append(nn.utils.clip_grad_norm_(net.parameters(), 1.0).full_tensor().item())
        optimizer.step()
        optimizer.zero_grad()
    if device == "lazytensor":  # no parameter of the block is whole between two steps
        waiting = net[1]._get_fsdp_state()._fsdp_param_group.fsdp_params
        assert all(p._unsharded_param.untyped_storage().size() == 0 for p in waiting)
    found += [x.full_tensor().double().sum().item() for x in net.state_dict().values()]
    """,
    "DTensor on a mesh of two axes": """
    mesh = init_device_mesh(device, (2, 2), mesh_dim_names=("data", "model"))
    x = torch.randn(8, 4)
    split = distribute_tensor(x.to(device), mesh, [Shard(0), Shard(1)])
    weight = distribute_tensor(torch.randn(4, 6).to(device), mesh, [Replicate(), Shard(0)])
    product = (split @ weight).relu()
    moved = product.redistribute(mesh, [Shard(1), Replicate()])
    assert split.to_local().shape == (4, 2) and moved.to_local().shape == (8, 3)
    assert torch.equal(split.full_tensor().cpu(), x)
    found += moved.full_tensor().flatten().tolist()
    part = DTensor.from_local(torch.ones(2, 4).to(device) * me, mesh, [Shard(0), Replicate()])
    found += part.full_tensor().flatten().tolist()
    """,
}
NEXT = """
    results.append(found)
    found = []
    torch.manual_seed(0)
    """
END = """
    print(json.dumps(results), flush=True)
    dist.barrier()
    if backend == "gloo":
        os._exit(0)  # torch's own threads abort the process now and then when it exits
    dist.destroy_process_group()
    """
Found = dict[str, list[list[list[float]]]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Per backend and process what each program has found."""
    text = BEGIN + "".join(program + NEXT for program in TRAINING.values()) + END

    def of(backend: str) -> list[list[list[float]]]:
        done = launch(text, 4, 1, backend, folder=tmp_path_factory.mktemp(backend))
        assert done.returncode == 0, done.stderr
        return [json.loads(said_by(rank, done.stdout)[-1]) for rank in range(4)]

    return {backend: of(backend) for backend in ("lazytensor", "gloo")}


@pytest.mark.parametrize("name", TRAINING)
def test_training_goes_as_with_gloo(name: str, found: Found) -> None:
    at = list(TRAINING).index(name)
    ours, theirs = ([one[at] for one in found[backend]] for backend in ("lazytensor", "gloo"))
    assert len(ours[0]) >= 4
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
