"""Steps of optimizers over lists of parameters, each recorded as one op for all of a dtype."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import varying
from lazytensor.frontends.torch.dispatch.eager import is_at_hand
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.tensors.tensor import held_by, placing

Step = Callable[..., None]
Rows = list[tuple[Any, ...]]


def grouped(
    columns: Sequence[Sequence[Any]], dtypes: Collection[np.dtype], marks: Iterable[Any]
) -> dict[tuple[np.dtype, int, Any], Rows] | None:
    """Rows of cells and views by dtype, device and mark; None where torch has to do it.

    columns: lists of tensors: the parameters, and their gradients and state.
    """
    held: list[list[Any]] = [[held_by(x) for x in tensors] for tensors in columns]
    if any(None in column for column in held):
        return None
    types = [x.type for x in held[0]]
    if any([x.type for x in column] != types for column in held[1:]):
        return None
    devices = [x.device.index for x in columns[0]] if placing else [0] * len(types)
    groups: dict[tuple[np.dtype, int, Any], Rows] = {}
    for type, device, mark, *row in zip(types, devices, marks, *held, strict=True):
        if type.dtype not in dtypes:
            return None
        groups.setdefault((type.dtype, device, mark), []).append(tuple(row))
    return groups


def at_hand(columns: Sequence[Sequence[Any]]) -> list[list[Any]] | None:
    """The tensors as CPU tensors of the same memory, for torch's fused steps.

    None if the host lacks elements of one, or they are not all of one dtype.
    """
    first = columns[0][0].dtype
    every = chain.from_iterable(columns)
    if not all(is_at_hand(x) and x.dtype is first for x in every):
        return None
    return [list(map(boxed.alias, column)) for column in columns]


def record(
    steps: Composite[Any], rows: Rows, numbers: Sequence[float], flags: Mapping[str, Any]
) -> None:
    """Record `steps` and write what it gives: for each parameter itself and its state.

    rows: a parameter, its gradient, its state. numbers: operands before all these, as scalars.
    """
    dtype = rows[0][0].type.dtype
    given = [varying(float(x), dtype) for x in numbers]
    made = iter(steps(*given, *(part.node for row in rows for part in row), **flags))
    for x, _, *state in rows:
        for part in (x, *state):
            part.write(next(made))
