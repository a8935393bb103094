"""Assignment of a value to an array's data: conversion, broadcasting, NumPy's errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, leaf
from lazytensor.core.ir.types import TensorType
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.numpy.arrays.array import Lazy, ndarray
from lazytensor.frontends.numpy.arrays.conversion import operand
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, dummy
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, host_leaf, number, recast


def assign(target: Cell | View, value: Any) -> None:
    """Write `value`, any array-like, into `target`."""
    if type(value) is ndarray and is_same(value.ref, target):
        return  # the second half of `x[key] += …`: the first half has written already
    target.write(stored(value, target.type))


def is_same(x: Cell | View, y: Cell | View) -> bool:
    """Whether two arrays show the same part of the same data."""
    return x.cell is y.cell and x.chain == y.chain


def stored(value: Any, type: TensorType) -> Node:
    """`value` as a node of `type`, by the rules of assignment. Raises: ValueError, TypeError."""
    return settled(spread(recast(source(value, type.dtype), type.dtype), type))


def source(value: Any, dtype: np.dtype) -> Node:
    """The node of a value to be written into an array of `dtype`."""
    if issubclass(type(value), Lazy):
        return operand(value)
    if type(value) in PYTHON_NUMBERS:
        return number(value, dtype)
    try:
        return operand(value)
    except HostOnly:
        made = np.empty(np.shape(value), dtype)
        made[...] = value
        return host_leaf(made)


def check_depth(value: Any, node: Node, ndim: int) -> None:
    """Raise NumPy's error if `value`, with this node, is lists nested deeper than `ndim`."""
    if ndim and node.type.ndim > ndim and type(value) in (list, tuple):
        np.zeros((1,) * ndim)[...] = np.zeros((1,) * node.type.ndim).tolist()  # raises


def plain(value: Any, dtype: np.dtype) -> Any:
    """`value` as NumPy assigns it to elements: NumPy numbers must fit into signed integers.

    Raises: OverflowError, ValueError.
    """
    if isinstance(value, np.generic) and dtype.kind == "i" and value.dtype.kind in "iuf":
        return int(value)
    return value


def spread(node: Node, type: TensorType) -> Node:
    """`node` broadcast to the shape of `type`. Extra leading axes of length 1 are dropped."""
    shape, wanted = node.type.shape, type.shape
    if shape == wanted:
        return node
    while len(shape) > len(wanted) and shape[0] == 1:
        shape = shape[1:]
    if shape != node.type.shape:
        node = ops.reshape(node, shape=shape)
    if shape == wanted:
        return node
    try:
        made = ops.broadcast(node, shape=wanted)
    except ValueError:
        np.empty(wanted, np.bool_)[...] = dummy(node.type.with_dtype(np.dtype(np.bool_)))
        raise
    return made


def settled(node: Node) -> Node:
    """`node`, or a leaf of its value if it is a slot, as cells hold no slots."""
    if node.op is SLOT:
        return leaf(np.array(node.value, node.type.dtype), node.type)
    return node


def write_host(array: np.ndarray, node: Node, casting: Any = "unsafe") -> None:
    """Write `node` into a real array."""
    np.copyto(array, scheduler.observe(node), casting=casting)
