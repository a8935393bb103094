"""Torch's CPU kernels as the interpreter's: each gives what NumPy's reference gives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import lazytensor
import lazytensor.torch
from lazytensor.backends.xla.convolution import choice, forms, library
from lazytensor.core import ops
from lazytensor.core.interpreter.interpreter import interpret, reference_of, steps_of
from lazytensor.core.interpreter.rows import HOST_KERNELS
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, leaf
from lazytensor.core.ir.program import cut
from lazytensor.core.ops.convolutions import ConvolutionLayout
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.program_cache import cache
from lazytensor.frontends.torch.host import kernels
from lazytensor.frontends.torch.host.kernels import (
    MEMORY_ELEMENTS,
    PASSES,
    SCALAR,
    VECTOR,
    VECTOR_ELEMENTS,
)
from lazytensor.frontends.torch.host.layers import LAYERS, MASKS, UPDATES

DTYPES = [np.float32, np.float64]
UNARY = [*SCALAR, *VECTOR]


def by_both(op: Op, *arrays: np.ndarray, **attrs: Any) -> tuple[Any, Any] | None:
    """What the kernel and the reference give; None if there is no kernel for these types."""
    signature = op.signature(tuple(leaf(x).type for x in arrays), attrs)
    types, given = [leaf(x).type for x in arrays], op.attrs_of(signature.attrs)
    kernel = HOST_KERNELS[op.name](types, signature.type, **given)
    if kernel is None:
        return None
    before = [x.copy() for x in arrays]
    found = kernel(*arrays), reference_of(op, signature.attrs)(*arrays)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, before, strict=True))
    return found


def assert_same(found: tuple[Any, Any] | None, dtype: Any) -> None:
    assert found is not None
    mine, theirs = found
    assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
    rtol = 1e-4 if dtype == np.float32 else 1e-11  # sums in another order
    np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.name)
def test_functions(op: Op, dtype: Any) -> None:
    x = np.linspace(0.01, 3.0, VECTOR_ELEMENTS, dtype=dtype)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    x[: special.size] = special
    with np.errstate(all="ignore"):
        assert_same(by_both(op, x), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shapes", "attrs"),
    [
        (((128, 160), (128, 160)), {"contract": ((1,), (1,))}),
        (((128, 160), (128, 160)), {"contract": ((0,), (0,))}),
        (((8, 64, 96), (8, 64, 32)), {"batch": ((0,), (0,)), "contract": ((1,), (1,))}),
        (((40, 8, 96), (96, 128)), {"contract": ((2,), (0,))}),
        (((64, 4, 32), (4, 32, 256)), {"contract": ((1, 2), (0, 1))}),
    ],
)
def test_products_where_torchs_threads_spin(
    monkeypatch: pytest.MonkeyPatch, shapes: Any, attrs: dict[str, Any], dtype: Any
) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    monkeypatch.setattr(kernels, "SPINNING", {})
    assert by_both(ops.dot_general, *arrays, **attrs) is None
    monkeypatch.setattr(kernels, "SPINNING", {"torch": None})
    assert_same(by_both(ops.dot_general, *arrays, **attrs), dtype)
    small = rng.normal(size=(8, 8)).astype(dtype)
    assert by_both(ops.dot_general, small, small, contract=((1,), (0,))) is None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [*PASSES, *MASKS], ids=lambda op: op.name)
def test_passes_over_memory(op: Op, dtype: Any) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 4, MEMORY_ELEMENTS // 4)).astype(dtype)
    x[0, :5] = y[1, :5] = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    operands = [(x, y, np.array(0.5, dtype))] if op in MASKS else [(x, y), (x, np.array(0, dtype))]
    for arrays in operands:
        found = by_both(op, *arrays)
        assert found is not None
        np.testing.assert_array_equal(*found)
    small = [each[..., :8] if each.ndim else each for each in operands[0]]
    assert by_both(op, *small) is None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", [(0,), (2,), (0, 2), (0, 1, 2)])
def test_sums(axes: tuple[int, ...], dtype: Any) -> None:
    x = np.random.default_rng(0).normal(size=(8, 32, MEMORY_ELEMENTS // 256)).astype(dtype)
    assert_same(by_both(ops.reduce_sum, x, axes=axes), dtype)
    assert_same(by_both(ops.reduce_sum, x.transpose(2, 0, 1), axes=axes), dtype)
    assert by_both(ops.reduce_sum, x, axes=()) is None
    assert by_both(ops.reduce_sum, x[..., :8], axes=axes) is None


LINES = [(512, 64), (8, 64, 64)]
LAYER_CASES: dict[Op, list[tuple[str, dict[str, Any]]]] = {
    ops.gelu: [("x", {"approximate": flag}) for flag in (False, True)],
    ops.gelu_backward: [("xx", {"approximate": flag}) for flag in (False, True)],
    ops.layer_norm: [(f"x0{lines}", {"axes": 1}) for lines in ("", "l", "ll")],
    ops.layer_norm_inference: [(f"x0{lines}", {"axes": 1}) for lines in ("", "l", "ll")],
    ops.layer_norm_backward: [(f"xxmm{line}", {"axes": 1}) for line in ("", "l")],
    ops.log_softmax: [("x", {"axis": axis}) for axis in (0, 1)],
    ops.log_softmax_backward: [("xx", {"axis": axis}) for axis in (0, 1)],
    ops.masked_softmax: [("x", {"axis": axis}) for axis in (0, 1)],
    ops.softmax: [("x", {"axis": axis}) for axis in (0, 1)],
    ops.softmax_backward: [("xx", {"axis": axis}) for axis in (0, 1)],
    ops.add_product: [("xxx0", {}), ("xxxx", {})],
    ops.add_quotient: [("xxp0", {}), ("xxpx", {})],
    ops.lerp: [("xx0", {}), ("xx1", {}), ("xxx", {})],
}
"""By op: operands (x: normal; p: positive; l, m: of the last axis, of all others; 0, 1: numbers)
and attributes."""


def operand(kind: str, shape: tuple[int, ...], dtype: Any, rng: Any) -> Any:
    if kind in "01":
        return np.array(1e-3 if kind == "0" else 0.75, dtype)
    shapes = {"l": shape[-1:], "m": (*shape[:-1], 1)}
    found = rng.normal(size=shapes.get(kind, shape)).astype(dtype)
    return np.abs(found) + dtype(0.5) if kind == "p" else found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", LINES, ids=str)
@pytest.mark.parametrize("op", [*LAYERS, *UPDATES], ids=lambda op: op.name)
def test_layers_and_updates(op: Op, shape: tuple[int, ...], dtype: Any) -> None:
    rng = np.random.default_rng(0)
    for kinds, attrs in LAYER_CASES[op]:
        arrays = [operand(kind, shape, dtype, rng) for kind in kinds]
        found = by_both(op, *arrays, **attrs)
        assert found is not None
        for pair in zip(*(x if isinstance(x, tuple) else (x,) for x in found), strict=True):
            assert_same(pair, dtype)


@pytest.mark.parametrize("op", [ops.exp, ops.gelu], ids=lambda op: op.name)
def test_memory_that_torch_cannot_show(op: Op) -> None:
    x = np.linspace(0.01, 3.0, VECTOR_ELEMENTS)[::-1]
    assert_same(by_both(op, x), x.dtype)


CASES = list(product((1, 2, 3), (1, 2), (0, 1, 2), (1, 2), (1, 2)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "step", "pad", "gap", "groups"), CASES)
def test_convolutions_and_their_gradients(
    n: int, step: int, pad: int, gap: int, groups: int, dtype: Any
) -> None:
    rng, size = np.random.default_rng(0), {1: 400, 2: 15, 3: 9}[n]
    x = rng.normal(size=(3, 4) + (size,) * n).astype(dtype)
    w = rng.normal(size=(6, 4 // groups) + (3,) * n).astype(dtype)
    axes = tuple(range(n + 2))
    layout = ConvolutionLayout((step,) * n, ((pad, pad),) * n, (gap,) * n, groups, axes, axes)
    made = layout.of(leaf(x), leaf(w))
    grad = rng.normal(size=made.type.shape).astype(dtype)
    nodes = [
        made,
        layout.of_input(leaf(w), leaf(grad), x.shape[2:]),
        layout.of_kernel(leaf(x), leaf(grad), w.shape[2:]),
    ]
    met = 0
    for node in nodes:
        arrays = [scheduler.fetch(x) for x in node.operands]
        found = by_both(ops.convolution, *arrays, **ops.convolution.attrs_of(node.attrs))
        if found is not None:
            met += 1
            assert_same(found, dtype)
    assert met == 3 or groups > 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_convolution_and_its_bias_are_one_call(n: int, transposed: bool, dtype: Any) -> None:
    rng, size = np.random.default_rng(0), {1: 400, 2: 15, 3: 9}[n]
    x, w, bias = (
        rng.normal(size=shape).astype(dtype)
        for shape in ((3, 4) + (size,) * n, (4, 4) + (3,) * n, (1, 4) + (1,) * n)
    )
    for added in (lambda made: made + leaf(bias), lambda made: leaf(bias) + made):
        assert_one_call(added(convolved(leaf(x), leaf(w), transposed)))


def convolved(x: Node, w: Node, transposed: bool = False) -> Node:
    n = x.type.ndim - 2
    axes = tuple(range(n + 2))
    layout = ConvolutionLayout((1,) * n, ((1, 1),) * n, (1,) * n, 1, axes, axes)
    return layout.of_input(w, x, x.type.shape[2:]) if transposed else layout.of(x, w)


def assert_one_call(*made: Node, calls: bool = True) -> None:
    """Whether a step convolves and adds, and that the values are those of two steps."""
    found = cut(reachable(made), made)
    leaves, slots = [x.value for x in found.leaves], found.slots
    program = found.program
    assert any(len(step.operands) == 3 for step in steps_of(program)) is calls
    values = interpret(program, leaves, slots)
    program.steps, kernel = None, HOST_KERNELS.pop(ops.convolution.name)
    try:
        expected = interpret(program, leaves, slots)
    finally:
        HOST_KERNELS[ops.convolution.name] = kernel
        program.steps = None
    for pair in zip(values, expected, strict=True):
        assert_same(pair, leaves[0].dtype)


def test_a_bias_is_added_by_a_step_of_its_own() -> None:
    """Where the convolution is needed besides, or what is added is no bias, or its operand goes."""
    rng = np.random.default_rng(0)
    x, w, other = (leaf(rng.normal(size=s)) for s in ((3, 4, 15, 15), (4, 4, 3, 3), (1, 4, 15, 1)))
    bias = leaf(rng.normal(size=(1, 4, 1, 1)))
    made = convolved(x, w)
    assert_one_call(made, made + bias, calls=False)
    assert_one_call((made + bias) * made, calls=False)
    assert_one_call(made + made, calls=False)
    assert_one_call(made + other, calls=False)
    assert_one_call(convolved(x, w) + convolved(x * 2.0, w), calls=False)
    assert_one_call(convolved(x, w) + bias + (convolved(x * 2.0, w) + bias))
    hidden = x * 2.0  # what is computed may be overwritten at its last use
    made = convolved(hidden, w)
    computed = ops.reshape(ops.reduce_sum(hidden * 3.0, axes=(0, 2, 3)), shape=(1, 4, 1, 1))
    assert_one_call(made + computed, calls=False)


@pytest.mark.parametrize("backward", [False, True])
def test_pools(backward: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole call, as torch's kernel and as the composite's body computes it."""
    found = []
    monkeypatch.setattr(lazytensor.settings, "tier", "interpret")
    for device in ("lazytensor", "cpu"):
        torch.manual_seed(0)
        x = torch.randn(2, 3, 12, 12).to(device).requires_grad_()
        made = torch.nn.functional.max_pool2d(x, 3, 2, 1) + torch.nn.functional.avg_pool2d(x, 2)
        if backward:
            made.square().sum().backward()
        found.append((x.grad if backward else made.detach()).cpu())
    torch.testing.assert_close(*found)


def test_the_users_modes_do_not_see_the_kernels() -> None:

    class Refusing(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, *_: Any) -> Any:
            raise AssertionError(func)

    x = np.linspace(0.0, 1.0, VECTOR_ELEMENTS)
    with Refusing(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert_same(by_both(ops.erf, x), x.dtype)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("features", [8, 16])
@pytest.mark.parametrize("is_large", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_convolutions_may_be_torchs_within_a_program(
    monkeypatch: pytest.MonkeyPatch,
    stride: int,
    features: int,
    is_large: bool,
    dtype: torch.dtype,
) -> None:
    """If measured as the fastest form, or known to be that; with threads that do not spin."""
    monkeypatch.setattr(lazytensor.settings, "tier", "compile")
    monkeypatch.setattr(lazytensor.settings, "disk", False)
    monkeypatch.setattr(library, "SPINNING", {})
    products = 8 * 24**2 * 9 * 24 * features // stride**2
    monkeypatch.setattr(forms, "KNOWN_BEST_PRODUCTS", products + (not is_large))
    measured = []

    def last(name: str, type: Any, operands: Any, forms: Any, *_: Any, **__: Any) -> str:
        measured.append(list(forms)[-1])
        return measured[-1]

    monkeypatch.setattr(choice, "fastest", last)
    cache.clear()
    found = []
    for device in ("cpu", "lazytensor"):
        torch.manual_seed(0)
        net = torch.nn.Conv2d(features, 24, 3, stride=stride, padding=1, dtype=dtype)
        x = torch.randn(8, features, 24, 24, dtype=dtype).to(device)
        x.requires_grad_()
        y = net.to(device)(x)
        (y**2).sum().backward()
        found.append([t.detach().cpu() for t in (y, x.grad, net.weight.grad)])  # type: ignore[union-attr]
    is_known = is_large and features >= forms.MANY_FEATURES and stride == 1
    assert measured == ([] if is_known else ["library"] * 3)
    close = {"rtol": 1e-4, "atol": 1e-2} if dtype is torch.float32 else {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(*found, **close)  # sums in another order
    assert any(entry.executable and entry.executable.calls_back for entry in cache.entries())
