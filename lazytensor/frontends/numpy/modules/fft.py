"""`numpy.fft` over lazy arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core.ir.dtypes import C64, C128, F16, F32, F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import spectral
from lazytensor.core.lib.arranging import fitted
from lazytensor.frontends.numpy.arrays.conversion import asarray, operand
from lazytensor.frontends.numpy.functions.entry import Function, hosted, lazily
from lazytensor.frontends.numpy.functions.rebound import private, rebound
from lazytensor.frontends.numpy.functions.results import deliver
from lazytensor.frontends.numpy.modules import rest_of
from lazytensor.frontends.numpy.modules.standard import placed
from lazytensor.frontends.numpy.ufuncs.checks import check
from lazytensor.frontends.numpy.ufuncs.errors import refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert

_NORMS: Final = frozenset([None, "backward", "forward", "ortho"])


def _prepared(node: Node, real: bool) -> Node:
    """The operand as the transform takes it: f32 or f64, or complex."""
    dtype = node.type.dtype
    if dtype.kind in "biu":
        dtype = F64
    elif dtype not in (F32, F64, C64, C128):
        dtype = F32
    if real:
        if dtype.kind == "c":
            raise TypeError("ufunc 'rfft_n_even' did not contain a loop for complex input")
        return convert(node, dtype)
    return convert(node, {F32: C64, F64: C128}.get(dtype, dtype))


def _factor(count: int, norm: Any, inverse: bool) -> float:
    """The factor of the transform. An inverse one already divides by the count."""
    if norm not in _NORMS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    if norm == "ortho":
        return math.sqrt(count) if inverse else 1 / math.sqrt(count)
    if norm == "forward":
        return float(count) if inverse else 1 / count
    return 1.0


def _half_precision(count: int, norm: Any, inverse: bool) -> float:
    """The extra factor for half-precision numbers, as NumPy rounds its factor to their dtype."""
    if norm == "ortho":
        return float(np.reciprocal(np.sqrt(count, dtype=np.float16))) * math.sqrt(count)
    if (norm == "forward") == inverse:
        return 1.0
    return float(np.reciprocal(count, dtype=np.float16)) * count


def _transformed(node: Node, kind: str, lengths: Sequence[int], axes: Sequence[int]) -> Node:
    """The transform over a few axes at any places, cut or zero-filled to `lengths`."""
    for n, axis in zip(lengths, axes, strict=True):
        half = kind == "IRFFT" and axis == axes[-1]
        node = fitted(node, axis, n // 2 + 1 if half else n)
    return spectral.transformed(node, kind, lengths, axes)


def _run(node: Node, kind: str, lengths: list[int], axes: list[int], norm: Any) -> Node:
    """The transform of `lengths` over `axes`, cut or zero-filled, with its factor.

    See `transform_groups` for the order of the axes.
    """
    for n in lengths:
        if n < 1:
            raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    factor = _factor(math.prod(lengths), norm, kind in ("IFFT", "IRFFT"))
    half = node.type.dtype == F16
    if half:
        first = lengths[0 if kind == "IRFFT" and len(axes) > 1 else -1]
        factor *= _half_precision(first, norm, kind in ("IFFT", "IRFFT"))
    node = given = _prepared(node, kind == "RFFT")
    for each, group in spectral.transform_groups(kind, axes):
        node = _transformed(node, each, lengths[group], axes[group])
    if factor != 1.0:
        node = node * factor
    name = f"rfft_n_{'odd' if lengths[-1] % 2 else 'even'}" if kind == "RFFT" else kind.lower()
    check(name, [given], node, axes=None)
    return convert(node, F16) if half and kind == "IRFFT" and len(axes) == 1 else node


def _line(kind: str, half: bool = False) -> Function:
    """A transform over one axis."""

    def transform(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        node = operand(a)
        place = normalize_axis_index(operator.index(axis), node.type.ndim)
        if n is None:
            n = (node.type.shape[place] - 1) * 2 if half else node.type.shape[place]
        return deliver(_run(node, kind, [operator.index(n)], [place], norm), out)

    return transform


def _space(kind: str, default: Any = None) -> Function:
    """A transform over several axes."""

    def transform(
        a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None
    ) -> Any:
        node = operand(a)
        cook = private("numpy.fft._pocketfft", "_cook_nd_args")
        lengths, places = cook(_Shaped(node), s, axes, int(kind == "IRFFT"))
        if not len(places):
            refuse_unless(kind in ("FFT", "IFFT"))
            return asarray(a)
        where = [normalize_axis_index(operator.index(i), node.type.ndim) for i in places]
        full = [node.type.shape[i] if n is None else n for n, i in zip(lengths, where, strict=True)]
        return deliver(_run(node, kind, [operator.index(n) for n in full], where, norm), out)

    return transform


class _Shaped:
    """The attributes that NumPy's `_cook_nd_args` reads of an array."""

    def __init__(self, node: Node) -> None:
        self.shape = node.type.shape
        self.ndim = node.type.ndim


_KINDS: Final = ("FFT", "IFFT", "IRFFT", "RFFT")
_OWN: Final = {
    **{kind.lower(): _line(kind, kind == "IRFFT") for kind in _KINDS},
    **{f"{kind.lower()}2": _space(kind, (-2, -1)) for kind in _KINDS},
    **{f"{kind.lower()}n": _space(kind) for kind in _KINDS},
}

LAZY: dict[str, Function] = {
    **{name: lazily(name, own, getattr(np.fft, name)) for name, own in _OWN.items()},
    **{name: rebound(name, of=np.fft) for name in ("fftshift", "ifftshift")},
    "hfft": rebound("hfft", of=np.fft, irfft=_OWN["irfft"]),
    "ihfft": rebound("ihfft", of=np.fft, rfft=_OWN["rfft"]),
}


def _frequencies(name: str) -> Function:
    """`fftfreq` or `rfftfreq`. `dtype` is the array API standard's keyword."""
    own = hosted(name, getattr(np.fft, name))

    def sample(n: Any, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
        if dtype is not None and np.dtype(dtype).kind != "f":
            raise TypeError(f"{name}: a real floating dtype is needed, got {np.dtype(dtype)}")
        made = own(n, d)
        return placed(made if dtype is None else made.astype(dtype), device)

    sample.__name__ = sample.__qualname__ = name
    sample.__module__, sample.__doc__ = own.__module__, own.__doc__
    return sample


HOST: dict[str, Function] = {name: _frequencies(name) for name in ("fftfreq", "rfftfreq")}

globals().update({**LAZY, **HOST})


__getattr__, __dir__ = rest_of(np.fft, globals())
