"""Inlining what jax functions lower to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazytensor.backends.xla import client
from lazytensor.backends.xla.lowerings import library
from lazytensor.core import ops
from lazytensor.core.device.backend import backend
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.types import tensor_type

F64 = tensor_type(np.dtype(np.float64), (3,))
S64 = tensor_type(np.dtype(np.int64), (3,))


def twice(x: jax.Array, *, times: int) -> tuple[jax.Array, jax.Array]:
    """Promotes an integer literal, takes a hidden jit, counts in 64 bits."""
    return jnp.where(x > 1, x * times, jnp.linalg.norm(x)), jnp.arange(x.shape[0]) + 2**40


def run(times: int = 2) -> list[np.ndarray]:
    """`twice` of 1, 2, 3, traced afresh, lowered and run."""
    library.bytecode.cache_clear()
    source = library.bytecode(twice, (F64,), (("times", times),), "cpu")
    x = client.to_device(np.array([1.0, 2.0, 3.0]), owned=True)
    return [client.to_host(y) for y in client.compile(source)([x])]


@contextlib.contextmanager
def jax_set(**values: object) -> Iterator[None]:
    """The user's jax configuration, for a while."""
    before = {name: getattr(jax.config, name) for name in values}
    try:
        for name, value in values.items():
            jax.config.update(name, value)
        yield
        assert {name: getattr(jax.config, name) for name in values} == values
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jax_enable_x64", False),
        ("jax_enable_x64", True),
        ("jax_numpy_dtype_promotion", "strict"),
        ("jax_disable_jit", True),
        ("jax_debug_nans", True),
        ("jax_log_compiles", False),
    ],
)
def test_works_in_64_bits_and_leaves_the_users_settings_alone(name: str, value: object) -> None:
    with jax_set(**{name: value}):
        doubled, counted = run()
    assert doubled.dtype == np.float64
    assert np.allclose(doubled, [np.sqrt(14), 4, 6], rtol=1e-15)
    assert counted.dtype == np.int64
    assert counted.tolist() == [2**40, 2**40 + 1, 2**40 + 2]


def test_traces_once_a_signature() -> None:
    traced = []

    def counting(x: jax.Array, *, flag: bool) -> jax.Array:
        traced.append((x.shape, flag))
        return -x

    for types, flag in [((F64,), True), ((F64,), True), ((F64,), False), ((S64,), False)]:
        library.bytecode(counting, types, (("flag", flag),), "cpu")
    assert traced == [((3,), True), ((3,), False), ((3,), False)]


def test_a_module_has_one_function_a_signature() -> None:
    matrix, batch = (tensor_type(np.dtype(np.float64), shape) for shape in ((3, 3), (2, 3, 3)))
    program = trace_types(
        lambda x, y: [ops.inv(ops.inv(x)), ops.inv(y), ops.inv_checked(x)[1]], (matrix, batch), {}
    )
    text = backend().stablehlo(program)
    assert text.count("call @library") == 4
    assert text.count("func.func private @library") == 2


def test_threads_trace_at_once() -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, [2, 3, 4, 5]))
    assert [result[0][1] for result in results] == [4, 6, 8, 10]
