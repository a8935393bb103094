"""Torch programs on a mesh: the losses of one device, an expert's exchanges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional as F

import lazytensor
import lazytensor.torch
from lazytensor import Mesh
from lazytensor.core.runtime.program_cache import cache
from lazytensor.inspection.exchanges import Exchange
from lazytensor.sharding import sharding_of
from lazytensor.torch import data_parallel, mark_sharding, shard

DATA = Mesh((8,), ("data",))
MODEL = Mesh((4,), ("model",))
BOTH = Mesh((2, 4), ("data", "model"))


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(lazytensor.settings, "disk", False)
    cache.clear()
    yield
    cache.clear()


def exchanges() -> list[Exchange]:
    """Those of the last program on a mesh that has some."""
    found = (p.collectives() for p in lazytensor.programs(50) if p.meshes)
    return next(filter(None, found), [])


def mlp() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))


class Residual(torch.nn.Module):
    """Convolutions, batch norms and a shortcut, as ResNet-18's blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(2, 8, 3, padding=1)
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm2d(8) for _ in range(2)])
        self.second = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.head = torch.nn.Linear(8, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.reshape(-1, 2, 4, 4)
        y = F.relu(self.norms[0](self.first(x)))
        y = F.relu(self.norms[1](self.second(y)) + y)
        return self.head(y.mean((2, 3)))


class Block(torch.nn.Module):
    """A transformer's block."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (torch.nn.Linear(width, width) for _ in range(4))
        self.before, self.between = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        y, shape = self.before(x), (batch, length, self.heads, width // self.heads)
        q, k, v = (f(y).view(shape).transpose(1, 2) for f in (self.q, self.k, self.v))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.between(x))))


COLUMNS, ROWS = ("model", None), (None, "model")
PLAN = {"q": COLUMNS, "k": COLUMNS, "v": COLUMNS, "o": ROWS, "up": COLUMNS, "down": ROWS}
"""How Megatron splits a block's weights."""


def tensor_parallel(block: torch.nn.Module, mesh: Mesh) -> torch.nn.Module:
    for name, layer in block.to("lazytensor").named_children():
        if name in PLAN:
            mark_sharding(layer.weight, mesh, PLAN[name])
            if PLAN[name] is COLUMNS:
                mark_sharding(layer.bias, mesh, ("model",))
    return block


def classified(net: Any, steps: int = 4) -> list[float]:
    """The losses of a training on one device, whichever the module's is."""
    device = next(net.parameters()).device
    draw = torch.Generator().manual_seed(1)
    optimizer, losses = torch.optim.Adam(net.parameters(), lr=0.01), []
    for _ in range(steps):
        x = torch.randn(64, 32, generator=draw).to(device)
        labels = torch.randint(0, 10, (64,), generator=draw).to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def fitted(net: Any, mesh: Mesh | None = None, steps: int = 3) -> list[float]:
    """The losses of a block that learns to give nothing."""
    device = next(net.parameters()).device
    x = torch.randn(8, 16, 32, generator=torch.Generator().manual_seed(1)).to(device)
    if mesh is not None and "data" in mesh.names:
        x = shard(x, mesh, ("data",))
    optimizer, losses = torch.optim.SGD(net.parameters(), lr=0.1), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def seeded(make: Any) -> Any:
    torch.manual_seed(0)
    return make()


@pytest.mark.parametrize("make", [mlp, Residual])
def test_data_parallel_training_gives_the_losses_of_one_device(make: Any) -> None:
    expected = classified(seeded(make))
    net = data_parallel(seeded(make), DATA)
    torch.testing.assert_close(classified(net), expected, rtol=2e-5, atol=2e-5)
    kinds = Counter(exchange.kind for exchange in exchanges())
    assert set(kinds) == {"all-reduce"}
    found = sharding_of(next(net.parameters()))
    assert found is not None
    assert found.is_replicated


def test_all_gradients_of_a_step_are_added_in_one_exchange() -> None:
    net = data_parallel(seeded(mlp), DATA)
    classified(net)
    nbytes = sum(p.numel() * p.element_size() for p in net.parameters())
    (gradients,) = [exchange for exchange in exchanges() if exchange.nbytes >= 1024]
    assert gradients.nbytes == nbytes


@pytest.mark.parametrize("mesh", [MODEL, BOTH], ids=str)
def test_tensor_parallel_training_gives_the_losses_of_one_device(mesh: Mesh) -> None:
    expected = fitted(seeded(Block))
    net = tensor_parallel(seeded(Block), mesh)
    torch.testing.assert_close(fitted(net, mesh), expected, rtol=2e-5, atol=2e-5)
    for name, spec in PLAN.items():
        found = sharding_of(getattr(net, name).weight)
        assert found is not None
        assert found.spec == tuple((axis,) if axis else () for axis in spec)


@pytest.mark.parametrize("mesh", [MODEL, BOTH], ids=str)
def test_a_step_of_a_block_exchanges_as_megatrons(mesh: Mesh) -> None:
    """Twice forward, twice backward; once more for the gradients, where the batch is split."""
    fitted(tensor_parallel(seeded(Block), mesh), mesh)
    assert [e.kind for e in exchanges()] == ["all-reduce"] * (5 if mesh is BOTH else 4)
    assert all("layer_norm" not in e.lines[0] for e in exchanges()[:4])


@pytest.mark.parametrize("mesh", [MODEL, BOTH], ids=str)
def test_a_block_needs_two_exchanges(mesh: Mesh) -> None:
    net = tensor_parallel(seeded(Block), mesh)
    x = torch.ones(8, 16, 32, device="lazytensor")
    with torch.no_grad():
        found = net(shard(x, mesh, ("data",)) if "data" in mesh.names else x)
    lazytensor.sync(found)
    parts = 2 if "data" in mesh.names else 1
    assert [(e.kind, e.nbytes) for e in exchanges()] == [("all-reduce", x.nbytes // parts)] * 2


def test_gradients_flow_through_shard() -> None:
    x = torch.randn(16, 4, requires_grad=True)
    (shard(x, DATA, ("data",)) ** 2).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach())


def test_a_view_is_not_marked() -> None:
    x = torch.ones(16, 4, device="lazytensor")
    with pytest.raises(ValueError, match="a view changes with its array"):
        mark_sharding(x[:8], DATA, ("data",))


def test_data_parallel_takes_modules() -> None:
    with pytest.raises(TypeError, match=r"a torch.nn.Module was expected, got function"):
        data_parallel(mlp, DATA)
