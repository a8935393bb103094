"""From rows to kernels: a row is a function from torch's arguments to nodes.

A row's functional overload also gives its in-place and `out=` variants, found by their schemas:
`add.Tensor` gives `add_.Tensor` and `add.out`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import torch

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.ir.node import Node, Recorded, ResultNode
from lazytensor.core.lib.geometry import kept_strides, order_of
from lazytensor.frontends.torch.dispatch.composition import Composition
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.promotion import cast_to
from lazytensor.frontends.torch.dispatch.recipes import remembering
from lazytensor.frontends.torch.dispatch.registry import (
    KERNELS,
    Plans,
    Row,
    prepare_thread,
    register,
    schema_of,
    thread,
)
from lazytensor.frontends.torch.dispatch.verdicts import REFUSALS, asking, check_outs, refuse
from lazytensor.frontends.torch.tensors.placement import elsewhere
from lazytensor.frontends.torch.tensors.strides import is_repeated, strides_for
from lazytensor.frontends.torch.tensors.tensor import (
    TORCH,
    is_lazy,
    laid,
    node,
    placing,
    ref,
    stored,
    wrap,
)

Apart = Literal["", "partly", "wholly"]
"""Which overlap of a written tensor with an operand is refused."""


def rows(
    table: dict[str, Row],
    keeps: bool = False,
    images: bool = False,
    composed: bool = False,
    pure: bool = False,
    follows: bool = False,
    asks: bool = False,
    apart: Apart = "",
) -> None:
    """Register the functional overload of each row, and its variants.

    keeps: results lie as the operands do (elementwise operations and copies).
    images: results have the operands' memory format.
    follows: results lie as the first operand does.
    composed: a call is recorded as one node.
    asks: torch is asked whether it takes the dtypes (see `verdicts`), except for gradients.
    pure: types and plain values decide what the row records (see `recipes`).
    apart: the overlap that in-place variants refuse (see `Apart`); "partly" if it `keeps`.
    """
    for name, row in table.items():
        if composed:
            row = composition(name, row)
        plans = None
        if pure:
            row = remembering(row)
            plans = Plans(row, ordered=keeps or images or follows)
        if asks and not name.endswith("backward"):
            row = asking(name, row)
        shown = formatted(row) if images else following(row) if follows else row
        made = keeping(name, row) if keeps else functional(name, shown)
        register(name, made, translated=True, plans=plans)
        variants(name, row, apart or ("partly" if keeps else ""), plans)


def composition(name: str, row: Row) -> Row:
    """The row; each call is recorded as one node where possible."""
    composed = Composition(f"aten.{name}", row)

    def one(*args: Any, **kwargs: Any) -> Any:
        found = composed(args, kwargs)
        return row(*args, **kwargs) if found is NotImplemented else found

    return one


def functional(name: str, row: Row) -> Row:
    """A kernel of an overload that gives new tensors."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if not thread.ready:
            prepare_thread()
        try:
            made = row(*args, **kwargs)
        except REFUSALS as error:
            refuse(name, error, args, kwargs)
        kind = made.__class__
        if kind is Recorded:
            return wrap(made)
        if kind is tuple:
            return tuple(
                [wrap(item) if item.__class__ is ResultNode else wrapped(item) for item in made]
            )
        return wrapped(made)

    return kernel


def keeping(name: str, row: Row) -> Row:
    """A kernel of an overload whose new tensor keeps the element order of the operands."""

    def kernel(*args: Any, memory_format: Any = None, **kwargs: Any) -> Any:
        if not thread.ready:
            prepare_thread()
        try:
            made = row(*args, **kwargs)
        except REFUSALS as error:
            refuse(name, error, args, kwargs)
        if memory_format is not None and memory_format is not torch.preserve_format:
            return laid(made, strides_for(made.type.shape, memory_format))
        return as_operands(made, args)

    return kernel


def as_operands(made: Node, operands: Any) -> Any:
    """A tensor that holds `made`, in the element order of the operands."""
    for x in operands:
        if isinstance(x, torch.Tensor) and not x.is_contiguous():
            tensors = [(x.shape, x.stride()) for x in operands if isinstance(x, torch.Tensor)]
            return laid(made, kept_strides(made.type.shape, tuple(tensors)))
    return wrap(made)


def formatted(row: Row) -> Row:
    """A row whose results are tensors, with the channels last if an operand has them so."""

    def images(*args: Any, **kwargs: Any) -> Any:
        made = row(*args, **kwargs)
        for x in args[:3]:
            if not isinstance(x, torch.Tensor) or x.ndim not in IMAGES or x.is_contiguous():
                continue
            if has_channels_last(x.shape, x.stride()):
                return _laid_as(made, IMAGES[x.ndim], x.ndim)
        return made

    return images


def following(row: Row) -> Row:
    """A row whose results keep the first operand's element order, if they have its shape."""

    def ordered(x: Any, *args: Any, **kwargs: Any) -> Any:
        made = row(x, *args, **kwargs)
        if x.is_contiguous():
            return made
        several = isinstance(made, tuple)
        found = [as_operands(y, (x,)) for y in (made if several else (made,))]
        return tuple(found) if several else found[0]

    return ordered


def _laid_as(made: Any, memory_format: Any, ndim: int) -> Any:
    if isinstance(made, tuple | list):
        return type(made)(_laid_as(item, memory_format, ndim) for item in made)
    if not isinstance(made, Node) or made.type.ndim != ndim:
        return made
    return laid(made, strides_for(made.type.shape, memory_format))


def has_channels_last(shape: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether torch counts images of this geometry, gaps or not, as channels-last."""
    least = 0
    for axis in (1, *range(len(shape) - 1, 1, -1), 0):
        if not shape[axis] or stride[axis] < max(least, axis == 1):
            return False
        if axis == 0 and least == stride[1]:
            return False  # one element each: torch counts them as rows
        least = stride[axis] * max(shape[axis], 1)
    return True


IMAGES: Final = {4: torch.channels_last, 5: torch.channels_last_3d}
"""Channels-last memory formats by the number of axes."""


def wrapped(made: Any) -> Any:
    """Nodes wrapped as tensors, also within a tuple or list."""
    if isinstance(made, Node):
        return wrap(made)
    if isinstance(made, tuple | list):
        return type(made)([wrapped(item) for item in made])
    return made


def in_place(name: str, row: Row, apart: Apart = "") -> Row:
    """A kernel of an overload that writes the row's result into its first operand."""
    alone = apart == "wholly"
    marks = _meets_marks(name)

    def kernel(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if alone:
                refuse_overlap(self, args, wholly=True)
            made = row(self, *args, **kwargs)
            if marks:
                made = stored(made, self)
            held = self.untyped_storage().handle
            if held.__class__ is not Cell:
                if apart and not alone:
                    refuse_overlap(self, args)
                held = held.shown(self)
            _write(held, self, made)
        except REFUSALS as error:
            refuse(name, error, (self, *args), kwargs)
        return self

    return kernel


def into_out(
    name: str, row: Row, names: tuple[str, ...], apart: Apart = "", makes: bool = False
) -> Row:
    """A kernel of an overload that writes the row's results into the tensors named `names`.

    `makes`: the row takes no tensors, and gets the dtype as an argument.
    """
    base = name.partition(".")[0]
    adds = base in ADDING
    marks = _meets_marks(name)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        outs = {name: kwargs.pop(name) for name in names}
        told = {"dtype": outs[names[0]].dtype} if makes else {}
        if adds and kwargs.get("dtype") is None:
            kwargs["dtype"] = outs["out"].dtype
        try:
            made = row(*args, **kwargs, **told)
            given = [made] if len(names) == 1 else made
            made = [node(x) if is_lazy(x) else x for x in given]
            refuse_devices(outs.values())
            if marks:
                made = [stored(x, out) for x, out in zip(made, outs.values(), strict=True)]
            taken = check_outs(name, made, outs, args, kwargs)
            for out, value in zip(outs.values(), made, strict=True):
                if makes and base not in LINES and out.shape != value.type.shape:
                    out.resize_(value.type.shape)
                if apart:
                    refuse_overlap(out, args, wholly=apart == "wholly")
                give(out, value, base, taken, args if apart == "partly" else ())
        except REFUSALS as error:
            refuse(name, error, args, kwargs | outs)
        return outs[names[0]] if len(names) == 1 else tuple(outs.values())

    return kernel


def _meets_marks(name: str) -> bool:
    """Whether torch leaves pending conjugations and negations to the kernel."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "Conjugate")


def _lay(out: Any, operands: Iterable[Any]) -> None:
    """Give a tensor in rows the element order of the operands."""
    tensors = [(x.shape, x.stride()) for x in operands if isinstance(x, torch.Tensor)]
    stride = kept_strides(tuple(out.shape), tuple(tensors)) if tensors else out.stride()
    if stride != out.stride():
        out.as_strided_(out.shape, stride)


ADDING: Final = frozenset(["sum", "prod", "cumsum", "cumprod"])
"""Operations computed in the dtype of `out=`, unless `dtype` is given."""


def write(target: Any, value: Node) -> None:
    """Write `value` into a tensor of the same shape, as in-place operations do."""
    _write(ref(target), target, value)


def _write(held: Cell | View, target: Any, value: Node) -> None:
    type = held.type
    if placing:
        value = placing[0](value)
    if value.type is not type:
        if value.type.shape != type.shape:
            shapes = list(type.shape), list(value.type.shape)
            raise RuntimeError(
                f"output with shape {shapes[0]} doesn't match the broadcast shape {shapes[1]}"
            )
        check_cast(value, TORCH[type.dtype])
        value = cast_to(value, type.dtype)
    if held.chain and is_repeated(target):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )
    held.write(value)


def refuse_overlap(target: Any, operands: Iterable[Any], wholly: bool = False) -> None:
    """Refuse a call of which an operand shows elements of `target` at other places.

    `wholly`: also at the same places. Operands may come in lists.
    """
    if not is_lazy(target):
        return
    held = target.untyped_storage().handle
    for x in operands:
        if isinstance(x, list | tuple):
            refuse_overlap(target, x, wholly)
        elif is_lazy(x) and x.untyped_storage().handle is held:
            require(not _overlap(target, x, wholly))


def _overlap(x: Any, y: Any, wholly: bool) -> bool:
    """Whether two tensors of a storage share elements; like torch, only those without gaps."""
    (start, end), (first, last) = (
        (t.storage_offset() * t.itemsize, (t.storage_offset() + t.numel()) * t.itemsize)
        for t in (x, y)
    )
    if end <= first or last <= start:
        return False
    dense = all(order_of(tuple(t.shape), t.stride()) is not None for t in (x, y))
    if (start, end, x.shape, x.stride()) == (first, last, y.shape, y.stride()):
        return wholly and (dense or x is y)
    if not dense:
        return False
    return wholly or (start, end) != (first, last) or x.stride() != y.stride()


def check_cast(value: Node, wanted: torch.dtype) -> None:
    """Refuse a result of a higher kind than the dtype written to."""
    given = TORCH[value.type.dtype]
    if not torch.can_cast(given, wanted):
        raise RuntimeError(f"result type {given} can't be cast to the desired output type {wanted}")


def refuse_devices(outs: Iterable[Any]) -> None:
    """Raise torch's error for tensors that lie on another device."""
    for out in outs:
        if not is_lazy(out):
            raise elsewhere(out)


LINES: Final = frozenset(["arange", "linspace", "logspace"])
"""Operations that fill an `out=` tensor of any shape, row by row, if the element counts agree."""


def give(
    out: Any, value: Node, name: str = "", taken: bool = False, operands: Iterable[Any] = ()
) -> None:
    """Write `value`, a result of the operation `name`, into an `out=` tensor.

    The tensor takes the value's shape; for LINES only if the element counts differ.
    taken: torch has accepted the cast. operands: they decide the order of a resized tensor.
    """
    if not taken:
        check_cast(value, out.dtype)
    if name in LINES:
        value = _shaped(out, value, name)
    shape = value.type.shape
    if out.shape != shape:
        if out.numel():
            warnings.warn(_RESIZED.format(list(out.shape), list(shape)), UserWarning, stacklevel=3)
        out.resize_(shape)
        _lay(out, operands)
    write(out, cast_to(value, ref(out).type.dtype))


def _shaped(out: Any, line: Node, name: str) -> Node:
    """A line in the shape of `out`, which is resized to the line if the element counts differ."""
    count = out.numel()
    if count != line.type.size:
        if count and name == "arange":
            text = _RECOUNTED.format(list(out.shape), count, line.type.size)
            warnings.warn(text, UserWarning, stacklevel=4)
        out.resize_(line.type.shape)
    return ops.reshape(line, shape=tuple(out.shape))


_RECOUNTED: Final = (
    "The number of elements in the out tensor of shape {0} is {1} which does not match the "
    "computed number of elements {2}. Note that this may occur as a result of rounding error. The "
    "out tensor will be resized to a tensor of shape ({2},)."
)
_RESIZED: Final = (
    "An output with one or more elements was resized since it had shape {}, which does not match "
    "the required output shape {}. This behavior is deprecated, and in a future PyTorch release "
    "outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
    "tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
)


def variants(name: str, row: Row, apart: Apart = "", plans: Plans | None = None) -> None:
    """Register the in-place and `out=` overloads whose operands are those of `name`.

    plans: those of the functional overload.
    """
    in_place_plans = plans and plans._replace(ordered=False, writes=True)
    base, _, overload = name.partition(".")
    own = schema_of(base, overload)
    wanted, makes = _signature(own), any(a.name == "device" for a in own.arguments)
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{base}_"):
        if schema.arguments and schema.arguments[0].is_write and _signature(schema) == wanted:
            found = f"{base}_.{schema.overload_name}".rstrip(".")
            if found not in KERNELS:
                made = in_place(found, row, apart)
                register(found, made, translated=True, plans=in_place_plans)
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{base}"):
        outs = tuple(a.name for a in schema.arguments if a.is_out)
        if outs and _signature(schema) == wanted:
            found = f"{base}.{schema.overload_name}".rstrip(".")
            if found not in KERNELS:
                kernel = into_out(found, row, outs, apart, makes)
                register(found, kernel, translated=True)


MAKING: Final = frozenset(["dtype", "layout", "device", "pin_memory", "memory_format"])
"""Arguments that describe the result; all others are operands."""


def _signature(schema: Any) -> tuple[str, ...]:
    return tuple(
        f"{a.name}: {a.type}" for a in schema.arguments if not a.is_out and a.name not in MAKING
    )
