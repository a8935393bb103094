"""The array API standard's Fourier transforms, over nodes.

Source: data-apis.org/array-api, 2024.12, extension fft.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import COMPLEX, complex_of
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.arranging import Axes, axes_of
from lazytensor.core.lib.manipulation import roll
from lazytensor.core.lib.numbers import cast_to
from lazytensor.core.lib.spectral import normalized_fourier

Sizes = Sequence[int] | None
SWAPPED: Final = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _line(x: Node, kind: str, n: int | None, axis: int, norm: str) -> Node:
    place = normalize_axis_index(axis, x.type.ndim)
    size = x.type.shape[place]
    length = n or (2 * (size - 1) if kind == "IRFFT" else size)
    return normalized_fourier(_prepared(x, kind), kind, [length], [place], norm)


def _prepared(x: Node, kind: str) -> Node:
    if kind == "RFFT" or x.type.dtype in COMPLEX:
        return x
    return cast_to(x, complex_of(x.type.dtype))


def _space(x: Node, kind: str, s: Sizes, axes: Sizes, norm: str) -> Node:
    places = axes if axes is not None else range(x.type.ndim if s is None else len(s))
    where = [normalize_axis_index(i, x.type.ndim) for i in places]
    lengths = [x.type.shape[i] for i in where] if s is None else [*s]
    if s is None and kind == "IRFFT":
        lengths[-1] = 2 * (lengths[-1] - 1)
    return normalized_fourier(_prepared(x, kind), kind, lengths, where, norm)


def fft(x: Node, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Node:
    """The transform along an axis."""
    return _line(x, "FFT", n, axis, norm)


def ifft(x: Node, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Node:
    """The inverse of `fft`."""
    return _line(x, "IFFT", n, axis, norm)


def rfft(x: Node, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Node:
    """Half of the transform of reals, as the other half is its conjugate."""
    return _line(x, "RFFT", n, axis, norm)


def irfft(x: Node, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Node:
    """The inverse of `rfft`."""
    return _line(x, "IRFFT", n, axis, norm)


def hfft(x: Node, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Node:
    """The transform of a half signal whose transform is real."""
    return _line(ops.conj(_prepared(x, "IRFFT")), "IRFFT", n, axis, SWAPPED[norm])


def ihfft(x: Node, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Node:
    """The inverse of `hfft`."""
    return ops.conj(_line(x, "RFFT", n, axis, SWAPPED[norm]))


def fftn(x: Node, /, *, s: Sizes = None, axes: Sizes = None, norm: str = "backward") -> Node:
    """The transform along several axes."""
    return _space(x, "FFT", s, axes, norm)


def ifftn(x: Node, /, *, s: Sizes = None, axes: Sizes = None, norm: str = "backward") -> Node:
    """The inverse of `fftn`."""
    return _space(x, "IFFT", s, axes, norm)


def rfftn(x: Node, /, *, s: Sizes = None, axes: Sizes = None, norm: str = "backward") -> Node:
    """The transform of reals along several axes, the last of which is halved."""
    return _space(x, "RFFT", s, axes, norm)


def irfftn(x: Node, /, *, s: Sizes = None, axes: Sizes = None, norm: str = "backward") -> Node:
    """The inverse of `rfftn`."""
    return _space(x, "IRFFT", s, axes, norm)


def fftshift(x: Node, /, *, axes: Axes = None) -> Node:
    """Frequency 0 moved from the first place to the middle."""
    places = axes_of(x, axes)
    return roll(x, tuple(x.type.shape[i] // 2 for i in places), axis=places)


def ifftshift(x: Node, /, *, axes: Axes = None) -> Node:
    """The inverse of `fftshift`."""
    places = axes_of(x, axes)
    return roll(x, tuple(-(x.type.shape[i] // 2) for i in places), axis=places)
