"""Variants that hold lazy tensors: tensor lists, optionals."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.op import scalar
from lazytensor.frontends.tf.dispatch import fallback, opdef
from lazytensor.frontends.tf.dispatch.host import host_value
from lazytensor.frontends.tf.dispatch.table import HANDLERS, handles
from lazytensor.frontends.tf.rows.shapes import attr, host_number, host_shape
from lazytensor.frontends.tf.tensors.lifetime import uid
from lazytensor.frontends.tf.tensors.tensor import DEVICE, LazyTensor, Posing, shape_of

Args = tuple[Any, ...]


class LazyVariant(Posing):
    """A tensor list or an optional: `items` are tensors, None where a list has none yet."""

    __slots__ = ("_id", "dtype_", "items", "shape_")

    def __init__(self, items: list[Any], dtype: Any = None, shape: Any = None) -> None:
        self._id = uid()
        self.items = items
        self.dtype_ = dtype
        self.shape_ = shape

    def _datatype_enum(self) -> int:
        return int(opdef.VARIANT)

    def _shape_tuple(self) -> tuple[int, ...]:
        return ()

    def _rank(self) -> int:
        return 0

    _tensor_shape = None
    device = backing_device = DEVICE
    is_packed = False
    _keras_mask = None
    _handle_data = None

    def _copy_to_device(self, *_: Any, **__: Any) -> LazyVariant:
        return self

    def _numpy_internal(self) -> Any:
        raise TypeError("a variant has no value in NumPy")


def _integer(x: Any) -> int:
    return int(host_value(x).array)


def _shape(x: Any) -> Any:
    found = host_value(x).array
    return None if found.ndim == 0 else tuple(int(n) for n in found)


@handles("EmptyTensorList")
def _empty(ctx: Any, name: Any, args: Args) -> Any:
    return LazyVariant([], attr(args, 2, "element_dtype"), _shape(args[0]))


@handles("TensorListReserve")
def _reserve(ctx: Any, name: Any, args: Args) -> Any:
    dtype = attr(args, 2, "element_dtype")
    return LazyVariant([None] * _integer(args[1]), dtype, _shape(args[0]))


@handles("TensorListFromTensor")
def _from_tensor(ctx: Any, name: Any, args: Args) -> Any:
    shape = shape_of(args[0])
    items = HANDLERS["Unpack"](ctx, None, (args[0], "num", shape[0], "axis", 0))
    return LazyVariant(list(items), attr(args, 2, "element_dtype"), shape[1:])


@handles("TensorListPushBack")
def _push(ctx: Any, name: Any, args: Args) -> Any:
    given = args[0]
    return LazyVariant([*given.items, args[1]], given.dtype_, given.shape_)


@handles("TensorListPopBack")
def _pop(ctx: Any, name: Any, args: Args) -> Any:
    given = args[0]
    rest = LazyVariant(given.items[:-1], given.dtype_, given.shape_)
    return [rest, _item(given, -1, args[1])]


def _item(given: LazyVariant, i: int, shape: Any) -> Any:
    found = given.items[i]
    if found is not None:
        return found
    known = _shape(shape)
    if known is None or -1 in known:
        known = given.shape_
    if known is None or -1 in known:
        known = next(shape_of(item) for item in given.items if item is not None)
    dtype = opdef.normal(given.dtype_, "type")
    return LazyTensor(ops.broadcast(scalar(np.zeros((), dtype).item(), dtype), shape=tuple(known)))


@handles("TensorListGetItem")
def _get(ctx: Any, name: Any, args: Args) -> Any:
    return _item(args[0], _integer(args[1]), args[2])


@handles("TensorListSetItem")
def _set(ctx: Any, name: Any, args: Args) -> Any:
    given, i = args[0], _integer(args[1])
    items = list(given.items)
    if i >= len(items):
        items += [None] * (i + 1 - len(items))
    items[i] = args[2]
    return LazyVariant(items, given.dtype_, given.shape_)


@handles("TensorListStack")
def _stack(ctx: Any, name: Any, args: Args) -> Any:
    given = args[0]
    if not given.items:
        shape = [n if n > 0 else 0 for n in _shape(args[1]) or given.shape_ or ()]
        dtype = opdef.normal(given.dtype_, "type")
        return LazyTensor(
            ops.broadcast(scalar(np.zeros((), dtype).item(), dtype), shape=(0, *shape))
        )
    items = [_item(given, i, args[1]) for i in range(len(given.items))]
    return HANDLERS["Pack"](ctx, None, (items, "axis", 0))


@handles("TensorListGather")
def _gather(ctx: Any, name: Any, args: Args) -> Any:
    places = host_value(args[1]).array.ravel()
    items = [_item(args[0], int(i), args[2]) for i in places]
    return HANDLERS["Pack"](ctx, None, (items, "axis", 0))


@handles("TensorListScatterIntoExistingList")
def _scatter(ctx: Any, name: Any, args: Args) -> Any:
    given = list(args[0].items)
    parts = HANDLERS["Unpack"](ctx, None, (args[1], "num", shape_of(args[1])[0], "axis", 0))
    for i, part in zip(host_value(args[2]).array.ravel(), parts, strict=True):
        given[int(i)] = part
    return LazyVariant(given, args[0].dtype_, args[0].shape_)


@handles("TensorListConcatV2")
def _concat(ctx: Any, name: Any, args: Args) -> Any:
    given = args[0]
    if type(given) is not LazyVariant:
        return fallback.untouched(ctx, "TensorListConcatV2", name, args)
    items = [item for item in given.items if item is not None]
    lengths = tuple(shape_of(item)[0] for item in items)
    joined = HANDLERS["ConcatV2"](ctx, None, (items, host_number(0, "int32")))
    return [joined, host_shape(lengths, "int64")]


@handles("TensorListSplit")
def _split(ctx: Any, name: Any, args: Args) -> Any:
    lengths = host_value(args[2]).array.astype(np.int32)
    given = args[0], host_shape(tuple(lengths.tolist()), "int32"), host_number(0, "int32")
    items = HANDLERS["SplitV"](ctx, None, (*given, "num_split", len(lengths)))
    return LazyVariant(list(items), attr(args, 3, "element_dtype"), _shape(args[1]))


@handles("TensorListLength")
def _length(ctx: Any, name: Any, args: Args) -> Any:
    return host_number(len(args[0].items), "int32")


@handles("TensorListElementShape")
def _element_shape(ctx: Any, name: Any, args: Args) -> Any:
    given = args[0]
    known = next((shape_of(item) for item in given.items if item is not None), given.shape_)
    if known is None:
        return host_number(-1, "int32")
    return host_shape(tuple(known), "int32")


@handles("OptionalFromValue")
def _optional(ctx: Any, name: Any, args: Args) -> Any:
    if not any(type(x) is LazyTensor for x in args[0]):
        return fallback.untouched(ctx, "OptionalFromValue", name, args)
    return LazyVariant(list(args[0]))


@handles("OptionalHasValue")
def _has_value(ctx: Any, name: Any, args: Args) -> Any:
    if type(args[0]) is not LazyVariant:
        return fallback.untouched(ctx, "OptionalHasValue", name, args)
    return host_number(1, "bool")


@handles("OptionalGetValue")
def _get_value(ctx: Any, name: Any, args: Args) -> Any:
    if type(args[0]) is not LazyVariant:
        return fallback.untouched(ctx, "OptionalGetValue", name, args)
    return list(args[0].items)


def zeros_like(x: LazyVariant) -> LazyVariant:
    """A list of zeros of the same shapes."""
    items = [None if item is None else _zeros(item) for item in x.items]
    return LazyVariant(items, x.dtype_, x.shape_)


def _zeros(item: Any) -> Any:
    return HANDLERS["ZerosLike"](fallback.current(), None, (item,))


def added(xs: list[LazyVariant]) -> LazyVariant:
    """Lists added element by element; where one has none, the others' sum."""
    items: list[Any] = []
    for parts in zip(*(x.items for x in xs), strict=True):
        there = [part for part in parts if part is not None]
        if len(there) > 1:
            items.append(HANDLERS["AddN"](fallback.current(), None, (there,)))
        else:
            items.append(there[0] if there else None)
    return LazyVariant(items, xs[0].dtype_, xs[0].shape_)


def attach() -> None:
    """`ZerosLike`, `AddN` and copies take lists too."""
    zeros, add_n, identity = (HANDLERS[name] for name in ("ZerosLike", "AddN", "Identity"))

    def like(ctx: Any, name: Any, args: Args) -> Any:
        return zeros_like(args[0]) if type(args[0]) is LazyVariant else zeros(ctx, name, args)

    def add(ctx: Any, name: Any, args: Args) -> Any:
        return added(args[0]) if type(args[0][0]) is LazyVariant else add_n(ctx, name, args)

    def same(ctx: Any, name: Any, args: Args) -> Any:
        if type(args[0]) is LazyVariant:
            return args[0]
        return identity(ctx, name, args)

    HANDLERS["ZerosLike"], HANDLERS["AddN"], HANDLERS["Identity"] = like, add, same
