"""Training loops in the shapes of the field's public example scripts, on made data.

The models and the loops have the sizes, the optimizers and the reads of values of pytorch/examples
and minGPT. Each is a function from a device to a function that trains one step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Step = Callable[[], None]
"""One step of training, reads of values included."""

LOG_INTERVAL: Final = 10
"""Steps between two prints of the loss, in the scripts that do not read it at each."""


def _loop(net: Any, optimizer: Any, loss: Callable[[], Any], every: int) -> Step:
    """A step that updates the net's parameters and reads the loss at regular intervals."""
    seen = [0]

    def step() -> None:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        optimizer.step()
        if seen[0] % every == 0:
            float(found.item())
        seen[0] += 1

    net.train()
    return step


def mnist(device: str) -> Step:
    """Two convolutions and two dense layers, 64 pictures of 28², Adadelta."""
    import torch
    from torch import nn

    net = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Dropout(0.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(128, 10), nn.LogSoftmax(1),
    ).to(device)  # fmt: skip
    x, y = torch.randn(64, 1, 28, 28), torch.randint(10, (64,))
    optimizer = torch.optim.Adadelta(net.parameters())
    loss = nn.functional.nll_loss
    return _loop(net, optimizer, lambda: loss(net(x.to(device)), y.to(device)), LOG_INTERVAL)


def vae(device: str) -> Step:
    """A variational autoencoder of dense layers, 128 pictures of 28², Adam, loss read at each."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.into = nn.Linear(784, 400)
            self.mean, self.spread = nn.Linear(400, 20), nn.Linear(400, 20)
            self.out = nn.Sequential(nn.Linear(20, 400), nn.ReLU(), nn.Linear(400, 784))

        def forward(self, x: Any) -> Any:
            hidden = F.relu(self.into(x.view(-1, 784)))
            mean, spread = self.mean(hidden), self.spread(hidden)
            drawn = mean + torch.randn_like(spread) * torch.exp(0.5 * spread)
            return torch.sigmoid(self.out(drawn)), mean, spread

    net = Net().to(device)
    data = torch.rand(128, 1, 28, 28)

    def loss() -> Any:
        x = data.to(device)
        made, mean, spread = net(x)
        error = F.binary_cross_entropy(made, x.view(-1, 784), reduction="sum")
        return error - 0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())

    return _loop(net, torch.optim.Adam(net.parameters()), loss, 1)


def super_resolution(device: str) -> Step:
    """Four convolutions on 4 pictures of 85², pixels shuffled to 255², Adam, loss read at each."""
    import torch
    from torch import nn

    net = nn.Sequential(
        nn.Conv2d(1, 64, 5, padding=2), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
        nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 9, 3, padding=1),
        nn.PixelShuffle(3),
    ).to(device)  # fmt: skip
    x, y = torch.rand(4, 1, 85, 85), torch.rand(4, 1, 255, 255)
    loss = nn.MSELoss()
    optimizer = torch.optim.Adam(net.parameters())
    return _loop(net, optimizer, lambda: loss(net(x.to(device)), y.to(device)), 1)


def mnist_rnn(device: str) -> Step:
    """An LSTM of 64 over 28 rows, batch norm, two dense layers, 64 pictures, Adadelta."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rows = nn.LSTM(28, 64, batch_first=True)
            self.head = nn.Sequential(
                nn.BatchNorm1d(64), nn.Dropout(0.25), nn.Linear(64, 32), nn.ReLU(),
                nn.Dropout(0.5), nn.Linear(32, 10), nn.LogSoftmax(1),
            )  # fmt: skip

        def forward(self, x: Any) -> Any:
            return self.head(self.rows(x.reshape(-1, 28, 28))[0][:, -1, :])

    net = Net().to(device)
    x, y = torch.randn(64, 1, 28, 28), torch.randint(10, (64,))
    optimizer = torch.optim.Adadelta(net.parameters(), lr=0.1)
    return _loop(net, optimizer, lambda: F.nll_loss(net(x.to(device)), y.to(device)), LOG_INTERVAL)


def gcn(device: str) -> Step:
    """A graph network of two layers on 2,708 nodes, dense adjacency, Adam, loss read at each."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Parameter(torch.randn(1433, 16) * 0.05)
            self.second = nn.Parameter(torch.randn(16, 7) * 0.3)

        def forward(self, x: Any, links: Any) -> Any:
            hidden = F.dropout(F.relu(links @ (x @ self.first)), 0.1)
            return F.log_softmax(links @ (hidden @ self.second), 1)

    net = Net().to(device)
    x = (torch.rand(2708, 1433) < 0.01).float().to(device)
    links = (torch.rand(2708, 2708) < 0.002).float().to(device)
    y = torch.randint(7, (2708,)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
    return _loop(net, optimizer, lambda: F.nll_loss(net(x, links)[:140], y[:140]), 1)


def regression(device: str) -> Step:
    """A polynomial of degree 4 fitted to 32 points, updated by hand, loss read at each."""
    import torch
    from torch.nn import functional as F

    wanted, bias = torch.randn(4, 1).to(device) * 5, torch.randn(1).to(device) * 5
    net = torch.nn.Linear(4, 1).to(device)

    def step() -> None:
        drawn = torch.randn(32, device=device).unsqueeze(1)
        x = torch.cat([drawn**i for i in range(1, 5)], 1)
        y = x.mm(wanted) + bias.item()
        net.zero_grad()
        loss = F.smooth_l1_loss(net(x), y)
        float(loss.item())
        loss.backward()
        for parameter in net.parameters():
            parameter.data.add_(-0.1 * parameter.grad)

    return step


def translation(device: str) -> Step:
    """A transformer of 3 + 3 layers of 128, 32 pairs of 20 words, masks, Adam, loss at each."""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.source, self.target = nn.Embedding(2000, 128), nn.Embedding(2000, 128)
            self.places = nn.Parameter(torch.randn(20, 1, 128) * 0.1)
            self.layers = nn.Transformer(128, 8, 3, 3, 256, dropout=0.1)
            self.words = nn.Linear(128, 2000)

        def forward(self, x: Any, y: Any, mask: Any) -> Any:
            x, y = self.source(x) + self.places, self.target(y) + self.places[: len(y)]
            return self.words(self.layers(x, y, tgt_mask=mask))

    net = Net().to(device)
    x, y = torch.randint(2000, (20, 32)), torch.randint(2000, (20, 32))

    def loss() -> Any:
        words, wanted = x.to(device), y.to(device)
        mask = nn.Transformer.generate_square_subsequent_mask(19, device=device)
        made = net(words, wanted[:-1], mask)
        return nn.functional.cross_entropy(made.reshape(-1, 2000), wanted[1:].reshape(-1))

    return _loop(net, torch.optim.Adam(net.parameters(), lr=1e-4), loss, 1)


def min_gpt(device: str) -> Step:
    """A decoder of 3 layers of 48 and 3 heads, 64 rows of 32 words, AdamW, gradients clipped."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(48), nn.LayerNorm(48)])
            self.looks, self.joins = nn.Linear(48, 144), nn.Linear(48, 48)
            self.mixes = nn.Sequential(nn.Linear(48, 192), nn.GELU(), nn.Linear(192, 48))

        def forward(self, x: Any, mask: Any) -> Any:
            b, t, c = x.shape
            parts = self.looks(self.norms[0](x)).split(c, dim=2)
            q, k, v = (part.view(b, t, 3, 16).transpose(1, 2) for part in parts)
            scores = (q @ k.transpose(-2, -1)) * 0.25
            scores = F.softmax(scores.masked_fill(mask == 0, float("-inf")), -1)
            scores = F.dropout(scores, 0.1)
            x = x + self.joins((scores @ v).transpose(1, 2).reshape(b, t, c))
            return x + self.mixes(self.norms[1](x))

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(100, 48), nn.Embedding(32, 48)
            self.blocks = nn.ModuleList([Block() for _ in range(3)])
            self.norm, self.out = nn.LayerNorm(48), nn.Linear(48, 100)
            self.register_buffer("mask", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

        def forward(self, words: Any) -> Any:
            places = torch.arange(32, device=words.device).unsqueeze(0)
            x = self.words(words) + self.places(places)
            for block in self.blocks:
                x = block(x, self.mask)
            return self.out(self.norm(x))

    net = Net().to(device)
    x, y = torch.randint(100, (64, 32)), torch.randint(100, (64, 32))
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-4)

    def step() -> None:
        made = net(x.to(device))
        loss = F.cross_entropy(made.view(-1, 100), y.to(device).view(-1))
        net.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

    return step


SCRIPTS: Final = (
    mnist, vae, super_resolution, mnist_rnn, gcn, regression, translation, min_gpt,
)  # fmt: skip
