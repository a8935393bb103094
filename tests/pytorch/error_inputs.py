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
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves, tree_map

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor.core.settings import settings
from tests.pytorch.opinfo import name_of, to_device


class Refused(NamedTuple):
    """A call that raises: on the CPU as `call("cpu")`, on the device as `call("lazytensor")`."""

    name: str
    call: Callable[[str], Any]
    kind: type[BaseException]
    pattern: str


def refused() -> Iterator[Refused]:
    """All calls of the tables, in their order; a name ends with a number of its own."""
    for call in _of_operations():
        yield call
    for call in _of_modules():
        yield call


def _of_operations() -> Iterator[Refused]:
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        if op.error_inputs_func is None or op.name.startswith("jiterator"):
            continue
        torch.manual_seed(0)
        for number, given in enumerate(op.error_inputs("cpu")):
            sample = given.sample_input
            arguments = (sample.input, sample.args, sample.kwargs)
            yield Refused(
                f"{name_of(op)}-{number}",
                _calling(op, arguments),
                given.error_type,
                given.error_regex,
            )


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


def _of_modules() -> Iterator[Refused]:
    from torch.testing._internal.common_modules import ModuleErrorEnum, module_db

    for info in module_db:
        if info.module_error_inputs_func is None:
            continue
        made = info.module_error_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
        )
        for number, given in enumerate(made):
            yield Refused(
                f"{info.name}-{number}",
                _building(info, given, given.error_on is ModuleErrorEnum.CONSTRUCTION_ERROR),
                given.error_type,
                given.error_regex,
            )


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


def main() -> None:
    """Print the outcomes of the calls whose names have one of the words, if there are any."""
    settings.tier = "interpret"
    words, counts = sys.argv[1:], [0, 0]
    for one in refused():
        if (words and not any(word in one.name for word in words)) or outcome(one, "cpu"):
            continue
        said = outcome(one)
        counts = [counts[0] + 1, counts[1] + (not said)]
        if said:
            print(one.name, " ".join(said.split())[:300], sep="\t", flush=True)
    print(
        f"{counts[0]} calls that the CPU refuses, {counts[1]} of them refused on the device alike"
    )


if __name__ == "__main__":
    main()
