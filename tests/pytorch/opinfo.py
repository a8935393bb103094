"""Torch's own table of operations, run on the device against the CPU: forward, f32.

`python -m tests.pytorch.opinfo [names…]` prints what becomes of each entry, and the counts.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves, tree_map

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import metrics
from lazytensor.core import events

SAMPLES = 12
"""Calls of an entry that are tried: the first ones, which torch keeps small."""

RANDOM = frozenset(
    [
        "bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided",
        "exponential", "geometric", "log_normal", "multinomial", "new_empty", "new_empty_strided",
        "normal", "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform",
        "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
        "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout",
        "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
        "nn.functional.rrelu", "svd_lowrank", "pca_lowrank", "randn_like",
        "nn.functional.multi_head_attention_forward", "nn.functional.scaled_dot_product_attention",
    ]
)  # fmt: skip
"""Entries whose values are nobody's to predict: only types are compared."""


class Outcome(NamedTuple):
    """`how`: pass, fallback or fail; `why`: the fallbacks, or the first error."""

    name: str
    how: str
    why: str


def entries() -> list[Any]:
    """The entries that take f32 on the CPU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return [op for op in op_db if torch.float32 in op.supported_dtypes("cpu")]


def name_of(op: Any) -> str:
    """An entry's name and variant."""
    return f"{op.name}.{op.variant_test_name}".rstrip(".")


def outcome(op: Any, samples: int = SAMPLES) -> Outcome:
    """What becomes of an entry."""
    name = name_of(op)
    before = metrics.counts["fallbacks"]
    events.fallbacks.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for sample in _samples(op, samples):
                _compare(op, sample)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is this entry's result
            text = str(error).strip().splitlines()
            return Outcome(name, "fail", f"{type(error).__name__}: {' '.join(text)[:160]}")
    if metrics.counts["fallbacks"] == before:
        return Outcome(name, "pass", "")
    return Outcome(name, "fallback", " ".join(sorted({event.name for event in events.fallbacks})))


def _samples(op: Any, samples: int) -> Iterator[Any]:
    torch.manual_seed(0)
    return islice(op.sample_inputs("cpu", torch.float32), samples)


def _compare(op: Any, sample: Any) -> None:
    there = tree_map(_to_device, (sample.input, sample.args, sample.kwargs))
    torch.manual_seed(1)
    expected = op(sample.input, *sample.args, **sample.kwargs)
    torch.manual_seed(1)
    made = op(there[0], *there[1], **there[2])
    mine, theirs = tree_leaves(made), tree_leaves(expected)
    assert len(mine) == len(theirs), f"{len(mine)} results instead of {len(theirs)}"
    for x, y in zip(mine, theirs, strict=True):
        if not isinstance(y, torch.Tensor):
            assert x == y or y is None or op.name in RANDOM, f"{x} instead of {y}"
        elif op.name in RANDOM:
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
        else:
            torch.testing.assert_close(x.cpu(), y, equal_nan=True, rtol=1e-4, atol=1e-4)


def _to_device(x: Any) -> Any:
    if isinstance(x, torch.Tensor) and x.layout == torch.strided:
        return x.detach().to("lazytensor").requires_grad_(x.requires_grad)
    return torch.device("lazytensor") if x == "cpu" or x == torch.device("cpu") else x


def main(names: list[str]) -> None:
    """Print the outcome of each entry and the counts."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for op in entries():
        if names and op.name not in names:
            continue
        found = outcome(op)
        counts[found.how] += 1
        if found.how == "fallback":
            reasons.update(found.why.split())
        if found.how != "pass":
            print(*found, sep="\t", flush=True)
    print(dict(counts))
    for name, times in reasons.most_common(60):
        print(times, name)


if __name__ == "__main__":
    main(sys.argv[1:])
