"""What the laws of exchange need to know of a framework, as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import tensorflow as tf
import torch

import lazytensor.numpy as lnp
import lazytensor.tf
import lazytensor.torch


@dataclass(frozen=True)
class Framework:
    """`make` of host data, `double` (pending afterwards), `write` in place, `values` on the host.

    `share` are the ways in that show what an array shows, if it can be written to, and `copy` those
    that take what it holds now.
    """

    make: Callable[[numpy.ndarray], Any]
    double: Callable[[Any], Any]
    write: Callable[[Any], Any] | None
    values: Callable[[Any], numpy.ndarray]
    share: dict[str, Callable[[Any], Any]]
    copy: dict[str, Callable[[Any], Any]]


def _add(x: Any) -> None:
    x += 1


FRAMEWORKS = {
    "numpy": Framework(
        make=lnp.array,
        double=lambda x: x + x,
        write=_add,
        values=numpy.asarray,
        share={
            "asarray": lnp.asarray,
            "asanyarray": lnp.asanyarray,
            "ascontiguousarray": lnp.ascontiguousarray,
            "from_dlpack": lnp.from_dlpack,
        },
        copy={
            "array": lnp.array,
            "from_dlpack, copy": lambda x: lnp.from_dlpack(x, copy=True),
            "ufunc": lnp.positive,
            "function": lambda x: lnp.concatenate([x]),
        },
    ),
    "torch": Framework(
        make=lambda data: torch.tensor(data, device="lazytensor"),
        double=lambda x: x + x,
        write=lambda x: x.add_(1),
        values=lambda x: x.cpu().numpy(),
        share={
            "from_lazy": lazytensor.torch.from_lazy,
            "from_dlpack": torch.from_dlpack,
            "from_dlpack, device": lambda x: torch.from_dlpack(x, device="lazytensor"),
            "from_numpy": torch.from_numpy,
            "as_tensor": torch.as_tensor,
            "as_tensor, device": lambda x: torch.as_tensor(x, device="lazytensor"),
            "asarray": torch.asarray,
        },
        copy={
            "tensor": torch.tensor,
            "tensor, device": lambda x: torch.tensor(x, device="lazytensor"),
            "from_dlpack, copy": lambda x: torch.from_dlpack(x, copy=True),
        },
    ),
    "tf": Framework(
        make=lambda data: tf.identity(tf.constant(data)),
        double=lambda x: x + x,
        write=None,
        values=numpy.asarray,
        share={},
        copy={
            "from_lazy": lazytensor.tf.from_lazy,
            "convert_to_tensor": tf.convert_to_tensor,
            "constant": tf.constant,
            "operand": tf.identity,
        },
    ),
}
DIRECTIONS = [(source, to) for source in FRAMEWORKS for to in FRAMEWORKS if source != to]


def ways(to: str) -> dict[str, Callable[[Any], Any]]:
    """Every way into a framework."""
    return FRAMEWORKS[to].share | FRAMEWORKS[to].copy


ROUTES = [(source, to, way) for source, to in DIRECTIONS for way in ways(to)]
