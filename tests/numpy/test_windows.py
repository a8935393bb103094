"""Products with sliding windows are convolutions, and give what NumPy gives."""

from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as np

CALLS = {
    "images": ((2, 3, 7, 8), (5, 3, 3, 2), (2, 3), (3, 2), "nchwij,ocij->nohw"),
    "the kernel first": ((2, 3, 7, 8), (5, 3, 3, 2), (2, 3), (3, 2), "ocij,nchwij->nohw"),
    "channels last": ((2, 7, 8, 3), (3, 2, 3, 5), (1, 2), (3, 2), "nhwcij,ijco->nhwo"),
    "a line": ((2, 3, 9), (5, 3, 4), (2,), (4,), "nclk,ock->nol"),
    "volumes": ((1, 2, 4, 5, 6), (3, 2, 2, 2, 2), (2, 3, 4), (2, 2, 2), "ncxyzijk,ocijk->noxyz"),
    "axes turned": ((2, 3, 7, 8), (5, 3, 2, 3), (3, 2), (2, 3), "nchwij,ocij->nohw"),
}
PLAIN = {
    "no batch": ((3, 7, 8), (5, 3, 3, 2), (1, 2), (3, 2), "chwij,ocij->ohw"),
    "each channel by itself": ((2, 3, 7, 8), (3, 3, 2), (2, 3), (3, 2), "nchwij,cij->nchw"),
    "windows not summed over": ((2, 3, 7, 8), (5, 3, 3), (2, 3), (3, 2), "nchwij,oci->nohwj"),
}


def product(module: Any, call: Any, padded: bool, x: Any, w: Any) -> Any:
    """The Einstein sum of a call, of windows and kernel in its order."""
    _, _, axes, sizes, text = call
    if padded:
        x = module.pad(x, [(1, 2) if axis in axes else (0, 0) for axis in range(x.ndim)])
    view = module.lib.stride_tricks.sliding_window_view(x, sizes, axis=axes)
    return module.einsum(text, *((w, view) if text.startswith("o") else (view, w)))


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("name", [*CALLS, *PLAIN])
def test_windows(name: str, padded: bool) -> None:
    call = CALLS[name] if name in CALLS else PLAIN[name]
    random = numpy.random.default_rng(0)
    x, w = random.normal(size=call[0]), random.normal(size=call[1])
    program = lazytensor.trace(lambda: product(np, call, padded, np.array(x), np.array(w)))
    assert ("convolution(" in str(program)) is (name in CALLS)
    assert name not in CALLS or "pad(" not in str(program)
    actual = numpy.asarray(product(np, call, padded, np.array(x), np.array(w)))
    numpy.testing.assert_allclose(actual, product(numpy, call, padded, x, w), rtol=1e-10)
