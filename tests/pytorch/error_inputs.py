"""Calls that torch refuses, from its own tables of operations, modules and optimizers.

`python -m tests.pytorch.error_inputs [words…]` prints those that the device does not refuse as the
CPU does: with an error of the same class, whose text matches the table's pattern.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves, tree_map

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor.core.settings import settings
from tests.pytorch.opinfo import name_of, table, to_device


class Refused(NamedTuple):
    """A call that raises: on the CPU as `call("cpu")`, on the device as `call("lazytensor")`."""

    name: str
    call: Callable[[str], Any]
    kind: type[BaseException]
    pattern: str


def sources() -> dict[str, Callable[[], Iterator[Refused]]]:
    """The calls of each entry of the tables that has any, by the entry's name."""
    from torch.testing._internal.common_modules import module_db

    found: dict[str, Callable[[], Iterator[Refused]]] = {
        name_of(op): partial(_of_operation, op)
        for op in table()
        if op.error_inputs_func is not None
    }
    for info in module_db:
        if info.module_error_inputs_func is not None:
            found[info.name] = partial(_of_module, info)
    return found


def _of_operation(op: Any) -> Iterator[Refused]:
    torch.manual_seed(0)
    for number, given in enumerate(op.error_inputs("cpu")):
        sample = given.sample_input
        call = _calling(op, (sample.input, sample.args, sample.kwargs))
        yield Refused(f"{name_of(op)}-{number}", call, given.error_type, given.error_regex)


def _calling(op: Any, arguments: tuple[Any, ...]) -> Callable[[str], Any]:
    def call(device: str) -> Any:
        given = arguments if device == "cpu" else _moved(arguments)
        return op(given[0], *given[1], **given[2])

    return call


def _moved(arguments: Any) -> Any:
    """`arguments` on the device: what shares memory on the CPU shares it there.

    A tensor of a third device stays what is wrong with the call.
    """
    memories: dict[int, Any] = {}
    counts = Counter(_place(x) for x in tree_leaves(arguments) if _is_dense(x))

    def move(x: Any) -> Any:
        if not _is_dense(x) or counts[_place(x)] == 1:
            return x if isinstance(x, torch.Tensor) and x.is_meta else to_device(x)
        if _place(x) not in memories:
            whole = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
            memories[_place(x)] = whole.to("lazytensor")
        return memories[_place(x)].as_strided(x.shape, x.stride(), x.storage_offset())

    return tree_map(move, arguments)


def _is_dense(x: Any) -> bool:
    is_plain = isinstance(x, torch.Tensor) and x.layout == torch.strided and not x.is_meta
    return is_plain and x.untyped_storage().nbytes() > 0


def _place(x: Any) -> int:
    return int(x.untyped_storage().data_ptr())


def _of_module(info: Any) -> Iterator[Refused]:
    from torch.testing._internal.common_modules import ModuleErrorEnum

    made = info.module_error_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
    )
    for number, given in enumerate(made):
        call = _building(info, given, given.error_on is ModuleErrorEnum.CONSTRUCTION_ERROR)
        yield Refused(f"{info.name}-{number}", call, given.error_type, given.error_regex)


def _building(info: Any, given: Any, alone: bool) -> Callable[[str], Any]:
    sample = given.module_error_input

    def call(device: str) -> Any:
        first, second = sample.constructor_input, sample.forward_input
        move = _moved if device != "cpu" else lambda x: x
        args, kwargs = move((first.args, first.kwargs))
        module = info.module_cls(*args, **kwargs).to(device)
        if alone:
            return None
        args, kwargs = move((second.args, second.kwargs))
        return module(*args, **kwargs)

    return call


def outcome(one: Refused, device: str = "lazytensor") -> str:
    """Empty if a call is refused as the table says; else what became of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = one.call(device)
            for x in tree_leaves(found):  # what only data can tell is raised when it is computed
                if isinstance(x, torch.Tensor) and x.layout == torch.strided:
                    x.cpu()
        except one.kind as error:
            if re.search(one.pattern, str(error)):
                return ""
            return f"{type(error).__name__}: {error}; expected {one.pattern!r}"
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is this call's outcome
            return f"{type(error).__name__}: {error}; expected {one.kind.__name__}"
    return f"nothing was raised; expected {one.kind.__name__} {one.pattern!r}"


def outcomes(calls: Iterator[Refused]) -> dict[str, str]:
    """What becomes on the device of the calls that the CPU refuses.

    The device is first: the CPU resizes some `out=` tensors before it refuses them.
    """
    kept = list(calls)
    found = {one.name: outcome(one) for one in kept}
    return {one.name: found[one.name] for one in kept if not outcome(one, "cpu")}


def main() -> None:
    """Print the outcomes of entries whose names have one of the words, if there are any."""
    settings.tier = "interpret"
    words, counts = sys.argv[1:], [0, 0]
    for name, calls in sources().items():
        if words and not any(word in name for word in words):
            continue
        found = outcomes(calls())
        counts = [counts[0] + len(found), counts[1] + [*found.values()].count("")]
        for call, said in found.items():
            if said:
                print(call, " ".join(said.split())[:300], sep="\t", flush=True)
    print(f"of {counts[0]} calls that the CPU refuses, {counts[1]} are refused on the device alike")


if __name__ == "__main__":
    main()
