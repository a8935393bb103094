"""The torch device: what recording an operation costs, and a training step against torch eager."""

from __future__ import annotations

import copy
import resource
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import bare_device, convolutions, pytorch_xla
from benchmarks.contestant import Contestant
from benchmarks.figures import Figure, Figures, count, figure, interleaved, ratio, seconds_of
from benchmarks.row import Effort, Row
from lazytensor import metrics, sync
from lazytensor.core.runtime import background

BATCH = 200
LAYERS, WIDTH, ROWS_A_STEP = 24, 64, 32
WORDS = 64
GENERATIONS = 3  # before they are timed: programs are compiled once that pays
Trainer = Callable[[], Any]


@dataclass(frozen=True)
class Task:
    """What is trained: a model, what it is called with, its loss, and an optimizer."""

    model: Any
    data: dict[str, Any]
    loss: Callable[[Any], Any]
    optimizer: Callable[[Any], Any]


def record(gradients: bool, effort: Effort) -> Figures:
    """`x + y` of small tensors: recorded by us, run by torch. The computing is not timed."""
    import torch

    import lazytensor.torch

    lazytensor.settings.small = 0  # tensors of this size would be computed at once

    def contestant(device: str) -> Callable[[], float]:
        x, y = (torch.ones(8, device=device, requires_grad=gradients) for _ in range(2))

        def once() -> float:
            sync()
            kept: list[Any] = []
            seconds = seconds_of(lambda: kept.append([x + y for _ in range(BATCH)]))
            sync()
            return seconds / BATCH

        return once

    contestants = {name: contestant(name) for name in ("lazytensor", "cpu")}
    samples = interleaved(contestants, effort.rounds(60), warmup=3)
    return {
        "ours": figure(samples["lazytensor"]),
        "torch": figure(samples["cpu"]),
        "ours / torch": ratio(samples["lazytensor"], samples["cpu"]),
    }


def chain() -> Task:
    """Many small layers."""
    import torch
    from torch import nn

    parts = [
        part
        for _ in range(LAYERS)
        for part in (nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH))
    ]
    return Task(
        nn.Sequential(*parts),
        {"input": torch.randn(ROWS_A_STEP, WIDTH)},
        lambda made: made.square().mean(),
        lambda parameters: torch.optim.AdamW(parameters, lr=1e-3),
    )


def bert() -> Task:
    """A transformer encoder with its masked-word loss: hidden 256, 4 layers, batch 8 × 128."""
    import torch
    import transformers

    config = transformers.BertConfig(
        vocab_size=1000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
        intermediate_size=1024, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    ids = torch.randint(1000, (8, 128))
    return Task(
        transformers.BertForMaskedLM(config),
        {"input_ids": ids, "labels": ids},
        lambda made: made.loss,
        lambda parameters: torch.optim.AdamW(parameters, lr=1e-4),
    )


def resnet() -> Task:
    """ResNet-18 on 8 pictures of 96²."""
    import torch
    import transformers

    config = transformers.ResNetConfig(
        depths=[2, 2, 2, 2], layer_type="basic", hidden_sizes=[64, 128, 256, 512],
        embedding_size=64, num_labels=10,
    )  # fmt: skip
    return Task(
        transformers.ResNetForImageClassification(config),
        {"pixel_values": torch.randn(8, 3, 96, 96), "labels": torch.randint(10, (8,))},
        lambda made: made.loss,
        lambda parameters: torch.optim.SGD(parameters, lr=1e-2, momentum=0.9),
    )


def tagger() -> Task:
    """A tag for each of 50 words, 32 sentences: an LSTM of two layers of 128."""
    import torch
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(1000, 64)
            self.layers = nn.LSTM(64, 128, num_layers=2)
            self.tags = nn.Linear(128, 20)

        def forward(self, words: Any) -> Any:
            return self.tags(self.layers(self.words(words))[0])

    wanted = torch.randint(20, (50 * 32,))
    return Task(
        Tagger(),
        {"input": torch.randint(1000, (50, 32))},
        lambda made: nn.functional.cross_entropy(made.flatten(0, 1), wanted.to(made.device)),
        lambda parameters: torch.optim.Adam(parameters, lr=1e-3),
    )


def trainer(task: Task, device: Any, compiled: Any = None) -> Trainer:
    """A training step, which gives its loss.

    device: where to. compiled: torch.compile's backend, if it is to be compiled.
    """
    import torch

    net = copy.deepcopy(task.model).to(device)
    if compiled is not None:
        net = torch.compile(net, backend=compiled)
    optimizer = task.optimizer(net.parameters())
    data = {name: x.to(device) for name, x in task.data.items()}

    def train() -> Any:
        optimizer.zero_grad()
        call = net(data["input"]) if "input" in data else net(**data)
        loss = task.loss(call)
        loss.backward()
        optimizer.step()
        return loss

    return train


def outside(make: Callable[[], Task], effort: Effort) -> dict[str, Contestant]:
    """Contestants in processes of their own, by name."""
    found = {}
    if make is chain:  # whose kernels are short
        found[bare_device.NAME] = bare_device.contestant()
    xla = pytorch_xla.contestant(make.__name__) if effort.peers else None
    if xla is not None:
        found[pytorch_xla.NAME] = xla
    return found


def _settle(contestants: dict[str, Callable[[], float]], rounds: int) -> None:
    """Run until nothing is compiled any more: programs at first, then with measured forms."""
    compiles = -1.0
    while compiles != (compiles := metrics.snapshot()["compiles"]):
        interleaved(contestants, rounds)
        background.drain()
        interleaved(contestants, rounds)


def step(make: Callable[[], Task], rounds: int, effort: Effort) -> Figures:
    """A whole training step, from the batch to the updated parameters; all from one start."""
    import torch

    import lazytensor.torch

    torch.manual_seed(0)
    task = make()
    losses: dict[str, list[float]] = {}

    def contestant(name: str, train: Trainer) -> Callable[[], float]:
        done = losses.setdefault(name, [])
        return lambda: seconds_of(lambda: done.append(train().item()))

    trainers = {"ours": trainer(task, "lazytensor"), "torch": trainer(task, "cpu")}
    if effort.peers:
        trainers["torch.compile"] = trainer(task, "cpu", "inductor")
        trainers["torch.compile, ours"] = trainer(task, "lazytensor", lazytensor.torch.backend)
    contestants = {name: contestant(name, train) for name, train in trainers.items()}
    others = outside(make, effort)
    contestants |= {name: other.turn for name, other in others.items()}
    with convolutions.watched() as alone:
        _settle(contestants, rounds)
    before = sum(len(done) for name, done in losses.items() if "ours" in name)
    metrics.reset()
    samples = interleaved(contestants, effort.rounds(rounds))
    for other in others.values():
        other.end()
    counts = metrics.snapshot()
    steps = sum(len(done) for name, done in losses.items() if "ours" in name) - before
    mine, theirs = (losses[name][rounds - 1] for name in ("ours", "torch"))
    return {
        **{name: figure(found) for name, found in samples.items()},
        **({convolutions.NAME: figure([sum(alone)])} if alone else {}),
        "torch / ours": ratio(samples["torch"], samples["ours"]),
        "compiles": count(counts["compiles"]),
        "cuts a step": count(counts["cuts"] / steps),
        "loss apart": count(abs(mine - theirs) / abs(theirs)),
    }


SMALL = {"n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257}
MIDDLE = {"n_layer": 4, "n_embd": 256, "n_head": 4, "vocab_size": 1000}
TINY = {"n_layer": 2, "n_embd": 64, "n_head": 2, "vocab_size": 100}


def generation(config: dict[str, int], prompt: int, rounds: int, effort: Effort) -> Figures:
    """64 words, one after another, from a cache that grows with each. prompt: words before them."""
    import torch
    import transformers

    import lazytensor.torch  # noqa: F401 -- registers the device

    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**config)).eval()
    ids = torch.randint(config["vocab_size"], (1, prompt))
    words: dict[str, Any] = {}

    def contestant(device: str) -> Callable[[], float]:
        net, start = copy.deepcopy(model).to(device), ids.to(device)

        def generate() -> None:
            made = net.generate(start, max_new_tokens=WORDS, do_sample=False, pad_token_id=0)
            words[device] = made.cpu()

        return lambda: seconds_of(generate)

    contestants = {name: contestant(name) for name in ("lazytensor", "cpu")}
    metrics.reset()
    samples = interleaved(contestants, effort.rounds(rounds), warmup=GENERATIONS)
    return {
        "ours": figure(samples["lazytensor"]),
        "torch": figure(samples["cpu"]),
        "torch / ours": ratio(samples["cpu"], samples["lazytensor"]),
        "compiles": count(metrics.snapshot()["compiles"]),
        "words apart": count(int((words["lazytensor"] != words["cpu"]).sum())),
    }


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory(effort: Effort) -> Figures:
    """The process's peak after 100 steps of training, and after 1,000 more.

    The program is compiled before: what a compiler takes is no growth.
    """
    import torch

    import lazytensor.torch  # noqa: F401 -- registers the device

    torch.manual_seed(0)
    train = trainer(chain(), "lazytensor")
    metrics.reset()
    while not metrics.snapshot()["compiles"]:
        train()
    peaks = []
    for steps in (100, effort.rounds(1000)):
        for _ in range(steps):
            train()
        peaks.append(_peak())
    return {
        "100 steps": Figure(peaks[0] / 1e6, peaks[0] / 1e6, peaks[0] / 1e6, "MB"),
        "1,000 more": Figure(peaks[1] / 1e6, peaks[1] / 1e6, peaks[1] / 1e6, "MB"),
        "growth": count(peaks[1] / peaks[0]),
    }


def _model(name: str, what: str, make: Callable[[], Task], rounds: int, least: float) -> Row:
    return Row(
        f"torch-{name}",
        what,
        f"≥ {least:g}× torch, nothing compiled",
        lambda m: m["torch / ours"] >= least and m["compiles"] == 0,
        partial(step, make, rounds),
    )


def _generator(name: str, model: str, sizes: dict[str, int], rounds: int, prompt: int = 8) -> Row:
    return Row(
        f"torch-{name}",
        f"{model}, {WORDS} words by greedy generation after {prompt}, growing cache",
        "≥ 1× torch, at most 8 compiled",
        lambda m: m["torch / ours"] >= 1 and m["compiles"] <= 8,
        partial(generation, sizes, prompt, rounds),
    )


def rows() -> list[Row]:
    """The table of the torch frontend."""
    return [
        Row(
            f"torch-record{'-grad' if gradients else ''}",
            f"record `x + y`, 8 elements f32{', with autograd' if gradients else ''}",
            f"≤ {limit}× torch's own call",
            lambda m, limit=limit: m["ours / torch"] <= limit,
            lambda effort, gradients=gradients: record(gradients, effort),
        )
        for gradients, limit in ((False, 1.3), (True, 1.2))
    ] + [
        _model(
            "step",
            f"{LAYERS} × (Linear {WIDTH}, GELU, LayerNorm), batch {ROWS_A_STEP}, AdamW step",
            chain, 40, 2.5,
        ),
        _model("bert", "BERT, hidden 256, 4 layers, batch 8 × 128, AdamW step", bert, 12, 1.0),
        _model("resnet", "ResNet-18, batch 8, 96², SGD step", resnet, 12, 0.85),
        _model("lstm", "LSTM, 2 layers of 128, 32 sentences of 50 words, Adam step", tagger, 12, 1),
        _generator("generation", "GPT-2, 2 layers of 64", TINY, 10),
        _generator("generation-prompt", "GPT-2, 4 layers of 256", MIDDLE, 10, 24),
        _generator("generation-small", "GPT-2 small", SMALL, 5),
        Row(
            "torch-memory",
            "peak memory, 1,000 training steps more than 100",
            "≤ 1.02×",
            lambda m: m["growth"] <= 1.02,
            memory,
        ),
    ]  # fmt: skip
