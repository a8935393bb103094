"""Operations without a row: torch's own decomposition on lazy tensors, else torch's CPU kernel.

A decomposition keeps the graph whole. A CPU kernel needs its arguments' values, so it is reported:
one warning per call site, a counter, an event.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, wraps
from typing import Any, Final

import torch
from torch.utils._pytree import tree_map

from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.recording import thread
from lazytensor.core.lib.geometry import order_of
from lazytensor.core.observe.host_call import HostCall
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.dispatch.composition import Composition
from lazytensor.frontends.torch.dispatch.inference import infer, is_implemented
from lazytensor.frontends.torch.dispatch.kernels import MAKING, give, refuse_devices
from lazytensor.frontends.torch.dispatch.libraries import lasting
from lazytensor.frontends.torch.dispatch.registry import BELOW, prepare_thread
from lazytensor.frontends.torch.dispatch.registry import library as own
from lazytensor.frontends.torch.dispatch.verdicts import (
    REFUSALS,
    ask,
    check_outs,
    refuse,
    refuse_shared,
    verdict,
)
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.tensors.tensor import (
    from_cpu,
    is_lazy,
    laid,
    node,
    ref,
    to_cpu,
    value,
    wrap,
)

library: Final = lasting("_")
SILENT: Final = frozenset(
    [
        "aten::_local_scalar_dense", "aten::equal", "aten::is_nonzero", "aten::nonzero",
        "aten::masked_select", "aten::bincount", "aten::_unique",
        "aten::_unique2", "aten::unique_dim", "aten::unique_consecutive",
        "aten::unique_dim_consecutive",
    ]
)  # fmt: skip
"""Calls that need values on every device, as their result, or its shape, is data. They cut the
graph without a report, and the host finishes."""
_refused: Final[set[Any]] = set()
"""Overloads whose decomposition failed."""


@cache
def _core_decompositions() -> dict[Any, Callable[..., Any]]:
    from torch._decomp import core_aten_decompositions

    return {**core_aten_decompositions()}  # it takes 0.1 s, and few ops are in this table only


def torchs_own(op: Any) -> Callable[..., Any] | None:
    """Torch's decomposition of `op` as it is, if there is one."""
    from torch._decomp import decomposition_table

    return decomposition_table.get(op) or _core_decompositions().get(op)


@cache
def decomposition(op: Any) -> Callable[..., Any]:
    """Torch's decomposition of `op`, with the checks that it lacks.

    Torch's shape inference has them; torch runs it only for overloads without a kernel.
    """
    decomposed = torchs_own(op)
    assert decomposed is not None, "the caller has looked"
    infers = not op._schema.is_mutable and is_implemented(op, "Meta")

    @wraps(decomposed)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            made = decomposed(*args, **kwargs)
            if infers:
                infer(op, args, kwargs)
        except REFUSALS as error:
            refuse(op, error, args, kwargs)
        return made

    return checked


_KEY: Final = "PrivateUse1" if boxed is None else BELOW


def attach() -> None:
    """Register the fallback for all overloads without a kernel."""
    library.fallback(_kernel, _KEY)
    if boxed is not None:
        boxed.fallback()


class _Open(threading.local):
    def __init__(self) -> None:
        self.ops: set[Any] = set()


_open: Final = _Open()
"""The overloads being decomposed in this thread: some decompositions call themselves."""


def _kernel(op: Any, *args: Any, **kwargs: Any) -> Any:
    prepare_thread()
    if op not in _refused and op not in _open.ops:
        _open.ops.add(op)
        try:
            found = _decomposed(op, args, dict(kwargs))
        finally:
            _open.ops.discard(op)
        if found is not NotImplemented:
            return found
    return _on_cpu(op, args, kwargs)


def _decomposed(op: Any, args: Any, kwargs: Any) -> Any:
    """The results of torch's decomposition of `op`, or of its functional form.

    A decomposition never gets `out=`: some convert it like an operand, and write to the copy.
    """
    outs = [a.name for a in op._schema.arguments if a.is_out]
    plain = op if not outs and torchs_own(op) is not None else _functional_form(op)
    if plain is None or torchs_own(plain) is None:
        return NotImplemented
    targets = [kwargs.pop(name) for name in outs] or [args[0]]
    given = dict(kwargs)
    if outs and any(a.name == "device" for a in plain._schema.arguments):
        kwargs.update(device=targets[0].device, dtype=targets[0].dtype)
    ask(plain, args, kwargs)
    try:
        made = _composed(plain)(args, kwargs)
        if made is NotImplemented:
            made = decomposition(plain)(*args, **kwargs)
    except (NotImplementedError, AssertionError, AttributeError):
        if thread.recorder.tracing:
            raise
        said = verdict(plain, args, kwargs)
        if said is not None:
            raise said from None
        _refused.add(op)
        return NotImplemented  # the decomposition needs something that our tensors lack
    if plain is op or made is NotImplemented:
        return made
    results = [made] if isinstance(made, torch.Tensor) else list(made)
    nodes = [value(x) for x in results]
    line = op._schema.name.removeprefix("aten::")
    taken = False
    try:
        if outs:
            refuse_devices(targets)
            name = op.name().removeprefix("aten::")
            taken = check_outs(name, nodes, dict(zip(outs, targets, strict=True)), args, given)
        for target, result in zip(targets, nodes, strict=True):
            give(target, result, line, taken)
    except REFUSALS as error:
        refuse(op, error, args, given | dict(zip(outs, targets, strict=False)))
    return targets[0] if len(targets) == 1 else tuple(targets)


@cache
def _composed(op: Any) -> Composition:
    """Torch's decomposition of `op`, whose calls are one node each.

    From the first call on torch finds it directly, without the fallback.
    """
    made = Composition(op.name().replace("::", "."), decomposition(op))

    def kernel(*args: Any, **kwargs: Any) -> Any:
        found = made(args, kwargs, known=True)
        return _kernel(op, *args, **kwargs) if found is NotImplemented else found

    name = op.name()
    keys = _KEY, "PrivateUse1", "CompositeImplicitAutograd"
    taken = any(is_implemented(op, key) for key in keys)
    if op.namespace == "aten" and not taken:
        own.impl(name.removeprefix("aten::"), kernel, _KEY)
    return made


@cache
def _functional_form(op: Any) -> Any:
    """The overload with the same operands that writes to none, neither in place nor to `out=`."""
    name = op._schema.name.split("::")[1].removesuffix("_")
    packet = getattr(torch.ops.aten, name, None)
    wanted = _operands(op)
    for overload in packet.overloads() if packet is not None else ():
        other = getattr(packet, overload)
        plain = not any(a.alias_info and a.alias_info.is_write for a in other._schema.arguments)
        if other is not op and plain and _operands(other) == wanted:
            return other
    return None


def _operands(op: Any) -> list[str]:
    """The types of an overload's operands, without `out=` and the arguments in MAKING."""
    return [str(a.type) for a in op._schema.arguments if not a.is_out and a.name not in MAKING]


def _on_cpu(op: Any, args: Any, kwargs: Any) -> Any:
    """The results of torch's CPU kernel; tensors that it writes to are written back."""
    name = op._schema.name
    outs = [kwargs[a.name] for a in op._schema.arguments if a.is_out]
    refuse_devices(outs)
    if outs:
        refuse_shared(op, outs, args, kwargs)
    if thread.recorder.tracing:
        raise Unsupported(f"{name}: the CPU has no values of a composite's body")
    known: dict[int, Any] = {}
    originals: dict[int, Any] = {}

    def down(x: Any) -> Any:
        if isinstance(x, torch.device) and x.type == "lazytensor":
            return torch.device("cpu")
        if not is_lazy(x):
            return x
        if id(x) not in known:
            # A clone can be resized; a tensor on NumPy's memory cannot.
            copy = known[id(x)] = to_cpu(value(x)).clone()
            originals[id(copy)] = x
        return known[id(x)]

    scheduler.sync(cause=str(op)) if _pending(args) else None
    account = HostCall(str(op), "torch", "torch computes it on the CPU")
    with nullcontext() if name in SILENT else account:
        made = op(*tree_map(down, args), **tree_map(down, kwargs))
        _write_back(op, args, kwargs, known)

    def up(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        return originals[id(x)] if id(x) in originals else _brought(x)

    return tree_map(up, made)


def _brought(x: Any) -> Any:
    """A CPU tensor moved to the device, its elements in the same order."""
    made, stride = from_cpu(x), x.stride()
    ordered = x.is_contiguous() or order_of(tuple(x.shape), stride) is None
    return wrap(made) if ordered else laid(made, stride)


def _pending(args: Any) -> bool:
    return any(is_lazy(x) and node(x).value is None for x in args)


def _write_back(op: Any, args: Any, kwargs: Any, known: dict[int, Any]) -> None:
    for i, argument in enumerate(op._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        given = args[i] if i < len(args) else kwargs.get(argument.name)
        for x in given if isinstance(given, list | tuple) else [given]:
            if is_lazy(x):
                made = from_cpu(known[id(x)])
                if ref(x).type is made.type:
                    ref(x).write(made)
                else:
                    x.data = wrap(made)
