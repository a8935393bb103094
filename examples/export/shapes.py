"""From training in torch to a page that recognises drawn shapes, in three commands.

    python examples/export/shapes.py
    lazytensor export examples/export/shapes.py:model --input "float32[n,1,16,16]" --to web -o page
    python -m webbrowser page/index.html

The first trains a network on the lazy device and writes its weights, with a picture of each shape.
The second imports this file, whose `model` has these weights then. Drop a picture on the page.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

SHAPES = ("circle", "square", "triangle")
SIZE = 16
HERE = Path(__file__).parent
WEIGHTS = HERE / "shapes.npz"


class Recogniser(nn.Module):
    """Gives the probability of each shape by its name."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(16 * (SIZE // 4) ** 2, len(SHAPES)),
        )  # fmt: skip

    def forward(self, pictures: torch.Tensor) -> dict[str, torch.Tensor]:
        shares = self.layers(pictures).softmax(dim=1)
        return {name: shares[:, i] for i, name in enumerate(SHAPES)}


def drawn(kind: int, rng: np.random.Generator, size: int = SIZE) -> np.ndarray:
    """A filled shape somewhere in a picture, with noise: numbers from 0 to 1."""
    y, x = np.mgrid[:size, :size] / size
    across, down = rng.uniform(0.4, 0.6, 2)
    radius = rng.uniform(0.2, 0.35)
    x, y = (x - across) / radius, (y - down) / radius
    inside = (
        x**2 + y**2 < 1,
        np.maximum(abs(x), abs(y)) < 0.85,
        (y < 0.7) & (y > 2 * abs(x) - 1),
    )[kind]
    return np.clip(inside + rng.normal(0, 0.05, inside.shape), 0, 1)


def batch(count: int, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures and the numbers of their shapes."""
    kinds = rng.integers(0, len(SHAPES), count)
    pictures = np.stack([drawn(kind, rng) for kind in kinds])[:, None]
    return torch.tensor(pictures, dtype=torch.float32), torch.tensor(kinds)


def trained(steps: int = 100) -> Recogniser:
    """Train on the lazy device."""
    import lazytensor.torch  # noqa: F401  # makes the device

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    network = Recogniser().to("lazytensor")
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    for step in range(steps):
        pictures, kinds = (x.to("lazytensor") for x in batch(64, rng))
        loss = nn.functional.cross_entropy(network.layers(pictures), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    pictures, kinds = batch(300, rng)
    found = network.layers(pictures.to("lazytensor")).argmax(dim=1).cpu()
    print(f"{(found == kinds).float().mean().item():.0%} of 300 new pictures are recognised")
    return network


def loaded() -> Recogniser:
    """The network with the weights of the last training, for use."""
    network = Recogniser()
    if WEIGHTS.exists():
        with np.load(WEIGHTS) as kept:
            network.load_state_dict({name: torch.tensor(kept[name]) for name in kept})
    return network.eval()


model = loaded()

if __name__ == "__main__":
    network = trained()
    np.savez(WEIGHTS, **{name: x.cpu().numpy() for name, x in network.state_dict().items()})
    from matplotlib.image import imsave

    for kind, name in enumerate(SHAPES):
        picture = drawn(kind, np.random.default_rng(kind), 8 * SIZE)
        imsave(HERE / f"{name}.png", picture, cmap="gray", vmin=0, vmax=1)
    print(f"written: {WEIGHTS} and a picture of each shape beside it")
