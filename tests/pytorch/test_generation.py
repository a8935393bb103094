"""Words generated one by one, from a cache that grows: the CPU's words, by few programs."""

from __future__ import annotations

import copy

import pytest
import torch

import lazytensor.torch  # noqa: F401  registers the device
from lazytensor import metrics
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.settings import settings

transformers = pytest.importorskip("transformers")
WORDS = 66
MODEL = 50
"""Operations of a program that is the model's, and none of those that prepare it."""


def test_a_growing_cache_is_few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(settings, "disk", False)
    cache.clear()
    metrics.reset()
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=1, n_embd=32, n_head=2, vocab_size=50, bos_token_id=0, eos_token_id=49
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    ids = torch.randint(49, (1, 5))
    found = {}
    for device in ("lazytensor", "cpu"):
        net, start = copy.deepcopy(model).to(device), ids.to(device)
        made = net.generate(start, max_new_tokens=WORDS, do_sample=False, pad_token_id=0)
        found[device] = made.cpu()
    assert torch.equal(found["lazytensor"], found["cpu"])
    compiled = [e for e in cache.entries() if e.executable and e.program.size > MODEL]
    # The start, two lengths, and room for 64 and 128.
    assert len(compiled) == 5
    assert metrics.snapshot()["padded"] >= WORDS - 4
    padded = [e for e in compiled if e.padded]
    assert len(padded) == 2
