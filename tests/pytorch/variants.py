"""What is tried of an entry of torch's table beside its values: gradients, in place, `out=`."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from tests.pytorch.derivatives import DERIVATIVES
from tests.pytorch.opinfo import FREE, ON_CPU, RANDOM, compare, compare_results, to_device

UNCALLED = frozenset(["_batch_norm_with_update", "histogramdd", "nonzero"])
"""Entries whose `out=` torch does not take as a tensor, or as many as there are results."""


def _there(op: Any, sample: Any) -> Any:
    made = tree_map(to_device, (sample.input, sample.args, sample.kwargs))
    return (made[0], sample.args, sample.kwargs) if op.name in ON_CPU else made


def check_gradients(op: Any, sample: Any) -> None:
    """Compare the gradients on the device with those on the CPU, for the same cotangents.

    The CPU's are what OpInfo holds against numerical ones in torch's own tests; double backward
    is not looked at.
    """
    if op.name in RANDOM:
        return
    mine = _gradients(op, sample, *_there(op, sample))
    theirs = _gradients(op, sample, sample.input, sample.args, sample.kwargs)
    compare_results(op, mine, theirs)


def _gradients(op: Any, sample: Any, input: Any, args: Any, kwargs: Any) -> list[Any]:
    leaves = [
        x
        for x in tree_leaves((input, args, kwargs))
        if isinstance(x, torch.Tensor) and x.requires_grad
    ]
    torch.manual_seed(1)
    made = op.get_op()(input, *args, **kwargs)
    if sample.output_process_fn_grad is not None:
        made = sample.output_process_fn_grad(made)
    results = [x for x in tree_leaves(made) if isinstance(x, torch.Tensor) and x.requires_grad]
    if not results or not leaves:
        return []
    cotangents = [_cotangent(x) for x in results]
    found = torch.autograd.grad(results, leaves, cotangents, allow_unused=True)
    return [x.detach() if x is not None else None for x in found]


def _cotangent(x: Any) -> Any:
    torch.manual_seed(2)
    return torch.randn(x.shape, dtype=x.dtype).to(x.device)


def check_again(op: Any, sample: Any) -> None:
    """Compare a call that follows two of the same types with the CPU's: it comes from a plan.

    The two are given the elements in another order, and nobody looks at what they give: no value
    of theirs may be found in the third. No gradient is asked for.
    """
    if op.name in RANDOM:
        return
    input, args, kwargs = tree_map(_detached, (sample.input, sample.args, sample.kwargs))
    for _ in range(2):
        with suppress(RuntimeError, ValueError):  # the variant is no longer sorted, or regular
            turned = tree_map(_turned, (input, args, kwargs))
            moved = tree_map(to_device, turned)
            rest = turned if op.name in ON_CPU else moved
            op(moved[0], *rest[1], **rest[2])
    with torch.no_grad():
        compare(op, sample)


def _turned(x: Any) -> Any:
    return x.flatten().flip(0).reshape(x.shape) if isinstance(x, torch.Tensor) else x


def check_in_place(op: Any, sample: Any) -> None:
    """Compare the in-place variant with the CPU's: what it writes, and what it raises."""
    variant = op.get_inplace()
    if variant is None or sample.broadcasts_input or op.name in RANDOM:
        return
    input, args, kwargs = tree_map(_detached, (sample.input, sample.args, sample.kwargs))
    theirs = _tried(variant, input.clone(), args, kwargs)
    there = tree_map(to_device, (input, args, kwargs))
    if op.name in ON_CPU:
        there = (there[0], args, kwargs)
    target = there[0].clone()
    mine = _tried(variant, target, there[1], there[2])
    _agree(op, mine, theirs)
    if not isinstance(mine, Exception):
        assert mine is target
        compare_results(op, target, theirs)


def _detached(x: Any) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


def check_out(op: Any, sample: Any) -> None:
    """Compare `out=` with the CPU's: into tensors of the right shape, and into empty ones."""
    if not op.supports_out or op.name in RANDOM | UNCALLED:
        return
    input, args, kwargs = tree_map(_detached, (sample.input, sample.args, sample.kwargs))
    expected = op(input, *args, **kwargs)
    if not all(isinstance(x, torch.Tensor) for x in tree_leaves(expected)):
        return
    given = input, args, kwargs
    there = tree_map(_detached, _there(op, sample))
    try:
        compare_results(op, _written(op, given, tree_map(torch.zeros_like, expected)), expected)
    except AssertionError:
        return  # torch's own mistake: `fft.ihfftn` along one axis leaves `out=` as it was
    for empty in (False, True):
        outs = _written(op, there, tree_map(_emptied if empty else _zeros, expected))
        results: Any = (outs, expected)
        if op.name in FREE:
            results = map(sample.output_process_fn_grad, results)
        compare_results(op, *map(tree_leaves, results))


def _written(op: Any, given: Any, outs: Any) -> Any:
    outs = tuple(outs) if isinstance(outs, tuple | list) else outs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        op(given[0], *given[1], out=outs, **given[2])
    return outs


def _zeros(like: Any) -> Any:
    return torch.zeros(like.shape, dtype=like.dtype, device="lazytensor")


def _emptied(like: Any) -> Any:
    return torch.zeros(0, dtype=like.dtype, device="lazytensor")


def _tried(call: Any, *args: Any) -> Any:
    input, rest, kwargs = args
    try:
        return call(input, *rest, **kwargs)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return error


def _agree(op: Any, mine: Any, theirs: Any) -> None:
    failed = [isinstance(x, Exception) for x in (mine, theirs)]
    if failed[0] and not failed[1]:
        raise mine
    assert failed[0] == failed[1], f"{op.name}: the CPU raises {theirs}"


def check_views(op: Any, sample: Any) -> None:
    """Write to the results on both devices: what is a view there is one here, and nothing else."""
    if op.name in RANDOM:
        return
    given = tree_map(_copied, (sample.input, sample.args, sample.kwargs))
    there = tree_map(to_device, given)
    if op.name in ON_CPU:
        there = (there[0], *given[1:])
    for input, args, kwargs in (given, there):
        for made in tree_leaves(op(input, *args, **kwargs)):
            if isinstance(made, torch.Tensor) and not _overlaps(made):
                made.zero_()
    shown = ([x for x in tree_leaves(y) if isinstance(x, torch.Tensor)] for y in (there, given))
    compare_results(op, *shown)


def _copied(x: Any) -> Any:
    """A copy with the strides of `x`."""
    if not isinstance(x, torch.Tensor) or x.layout != torch.strided:
        return x
    whole = torch.empty(0, dtype=x.dtype).set_(x.detach().untyped_storage()).clone()
    return whole.as_strided(x.size(), x.stride(), x.storage_offset())


def _overlaps(x: Any) -> bool:
    return any(n > 1 and not s for n, s in zip(x.shape, x.stride(), strict=True))


CHECKS = {
    "again": check_again,
    "gradient": check_gradients,
    "in-place": check_in_place,
    "out": check_out,
    "views": check_views,
    **DERIVATIVES,
}
