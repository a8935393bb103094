"""Torch's own table of operations, run on the device against the CPU.

`python -m tests.pytorch.opinfo [--dtype float32] [--check out] [--table FILE] [names…]` prints
what becomes of each entry, and the counts. Entries that a table has already are not run again.
"""

from __future__ import annotations

import argparse
import json
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves, tree_map

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import metrics
from lazytensor.core.observe import events
from lazytensor.core.settings import settings

SAMPLES = 12
"""Calls of an entry that are tried: the first ones, which torch keeps small."""
SECONDS = 60
"""What an entry may take."""

DTYPES = {
    name: getattr(torch, name)
    for name in ("float32", "float64", "int64", "bool", "bfloat16", "complex64")
}
GRADIENTS = frozenset([torch.float64])
"""Gradients are looked at in these, values in the others."""
TOLERANCE = {torch.bfloat16: 2e-2}
"""Relative and absolute; 1e-4 where nothing is said. A bfloat16 has eight bits, and the CPU rounds
to it between the operations of a composite where we do not, or the other way round."""

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


TIED = {"argsort": 0, "kthvalue": 1, "mode": 0, "sort": 0, "topk": 1}
"""Entries whose indices, along the axis that is this argument, may be those of any equal element:
what they point at is compared."""
FREE = frozenset(["linalg.eig", "linalg.eigh"])
"""Entries that are unique but for a factor: compared as OpInfo says."""
SCALED = frozenset(["matrix_exp"])
"""Entries whose rounding errors are those of the largest element, as bfloat16's are anywhere."""
WIDER = frozenset(
    [
        "native_layer_norm",
        "native_batch_norm",
        "_native_batch_norm_legit",
        "_batch_norm_with_update",
    ]
)
"""Entries that give statistics of bfloat16 in float32, as torch does on CUDA."""
ON_CPU = frozenset(["tensor_split"])
"""Entries whose other operands torch takes from the CPU only."""


class Outcome(NamedTuple):
    """`how`: pass, fallback or fail; `why`: the fallbacks, or the first error."""

    name: str
    how: str
    why: str
    where: str = ""


def table() -> list[Any]:
    """Torch's entries, but for the jiterators, which raise on the CPU whatever they say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal import common_utils
        from torch.testing._internal.common_methods_invocations import op_db
    # For each sample torch looks for its own test on the stack, through every module there is.
    common_utils.extract_test_fn = lambda: None
    return [op for op in op_db if not op.name.startswith("jiterator")]


def entries(dtype: torch.dtype = torch.float32) -> list[Any]:
    """The entries that take `dtype` on the CPU."""
    return [op for op in table() if dtype in op.supported_dtypes("cpu")]


def name_of(op: Any) -> str:
    """An entry's name and variant."""
    return f"{op.name}.{op.variant_test_name}".rstrip(".")


def outcome(
    op: Any,
    samples: int = SAMPLES,
    dtype: torch.dtype = torch.float32,
    check: Callable[[Any, Any], None] | None = None,
) -> Outcome:
    """What becomes of an entry."""
    name = name_of(op)
    before = metrics.counts["fallbacks"]
    events.fallbacks.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for sample in _samples(op, samples, dtype):
                (check or compare)(op, sample)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is this entry's result
            if type(error).__name__ == "Neither":
                return Outcome(name, "neither", "")
            return Outcome(name, "fail", f"{type(error).__name__}: {_line(error)}", _place(error))
    if metrics.counts["fallbacks"] == before:
        return Outcome(name, "pass", "")
    return Outcome(name, "fallback", " ".join(sorted({event.name for event in events.fallbacks})))


def _line(error: Exception) -> str:
    return " ".join(str(error).strip().split())[:200]


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "lazytensor" in f.filename or "/_decomp/" in f.filename]
    last = own[-1] if own else frames[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def _samples(op: Any, samples: int, dtype: torch.dtype) -> Iterator[Any]:
    torch.manual_seed(0)
    with_gradients = dtype in GRADIENTS and op.supports_autograd
    return islice(op.sample_inputs("cpu", dtype, requires_grad=with_gradients), samples)


def compare(op: Any, sample: Any) -> None:
    """Compare what an entry gives on the device with what it gives on the CPU."""
    there = tree_map(to_device, (sample.input, sample.args, sample.kwargs))
    if op.name in ON_CPU:
        there = (there[0], sample.args, sample.kwargs)
    torch.manual_seed(1)
    expected = op(sample.input, *sample.args, **sample.kwargs)
    torch.manual_seed(1)
    made = op(there[0], *there[1], **there[2])
    if op.name in FREE:
        made, expected = map(sample.output_process_fn_grad, (made, expected))
    if op.name in TIED:
        made, expected = (_pointed_at(op, sample, found) for found in (made, expected))
    try:
        compare_results(op, made, expected)
    except AssertionError:
        if getattr(sample.input, "dtype", None) != torch.bfloat16:
            raise
        # The CPU rounds between the operations of a composite, we do not: nearer to the truth.
        wide = tree_map(_wide, (sample.input, sample.args, sample.kwargs))
        exact = op(wide[0], *wide[1], **wide[2])
        compare_results(op, made, tree_map(_narrow, exact))


def _wide(x: Any) -> Any:
    if isinstance(x, torch.Tensor) and x.dtype == torch.bfloat16:
        return x.float()
    return torch.float32 if x is torch.bfloat16 else x


def _narrow(x: Any) -> Any:
    return x.bfloat16() if isinstance(x, torch.Tensor) and x.dtype == torch.float32 else x


def _pointed_at(op: Any, sample: Any, found: Any) -> Any:
    """Results with the elements that indices point at in the place of the indices."""
    position = TIED[op.name]
    dim = (*sample.args, *[-1] * 3)[position]
    axis = sample.kwargs.get("dim", dim)

    def look(x: Any) -> Any:
        if x.dtype != torch.int64 or not sample.input.ndim:
            return x
        places = x.cpu()
        if places.ndim < sample.input.ndim:
            places = places.unsqueeze(axis)
        return torch.take_along_dim(sample.input, places, axis)

    *values, places = tree_leaves(found)
    return [*values, look(places)]


def compare_results(op: Any, made: Any, expected: Any) -> None:
    """Raise AssertionError where the device's results are not the CPU's."""
    mine, theirs = tree_leaves(made), tree_leaves(expected)
    assert len(mine) == len(theirs), f"{len(mine)} results instead of {len(theirs)}"
    for x, y in zip(mine, theirs, strict=True):
        if not isinstance(y, torch.Tensor):
            assert x == y or y is None or op.name in RANDOM, f"{x} instead of {y}"
        elif op.name in RANDOM:
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
        else:
            near = TOLERANCE.get(y.dtype, 1e-4)
            scaled = y.numel() and (op.name in SCALED or y.dtype == torch.bfloat16)
            most = max(float(y.abs().nan_to_num(0, 0, 0).max()), 1.0) if scaled else 1.0
            same = op.name not in WIDER
            torch.testing.assert_close(
                x.cpu(), y, equal_nan=True, rtol=near, atol=near * most, check_dtype=same
            )


def to_device(x: Any) -> Any:
    """`x` on the device."""
    if isinstance(x, torch.Tensor) and x.layout == torch.strided:
        return _laid_out(x.detach()).requires_grad_(x.requires_grad)
    return torch.device("lazytensor") if x == "cpu" or x == torch.device("cpu") else x


def _laid_out(x: Any) -> Any:
    """`x` on the device, in a storage of the same size and at the same strides."""
    if x.is_conj() or x.is_neg() or x.untyped_storage().nbytes() == x.numel() * x.itemsize:
        return x.to("lazytensor")
    whole = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).to("lazytensor")
    return whole.as_strided(x.size(), x.stride(), x.storage_offset())


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes more of the processor's time."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.pytorch.opinfo")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    parser.add_argument("--check")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    return parser.parse_args()


def main() -> None:
    """Print the outcome of each entry and the counts."""
    given = _given()
    check = None
    if given.check not in (None, "values"):
        from tests.pytorch.variants import CHECKS  # which imports this module

        check = CHECKS[given.check]
    settings.tier = "interpret"
    table = {}
    if given.table and given.table.exists():
        table = json.loads(given.table.read_text())
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for op in entries(DTYPES[given.dtype]):
        name = name_of(op)
        if given.names and op.name not in given.names and name not in given.names:
            continue
        if given.names or name not in table:
            with limited(SECONDS):
                table[name] = outcome(op, given.samples, dtype=DTYPES[given.dtype], check=check)[1:]
            if given.table:
                given.table.write_text(json.dumps(table, indent=0))
        how, why, where = table[name]
        counts[how] += 1
        if how == "fallback":
            reasons.update(why.split())
        if how != "pass":
            print(name, how, why, where, sep="\t", flush=True)
    print(dict(counts))
    for reason, times in reasons.most_common(80):
        print(times, reason)


if __name__ == "__main__":
    from tests.pytorch.opinfo import main as run  # one module, not two

    run()
