"""The client's laws: arrays in and out, programs, donation, serialisation, arithmetic."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo, func, stablehlo

from lazytensor.backends.xla import client

DTYPES = [
    *(np.dtype(name) for name in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")),
    *(np.dtype(name) for name in ("f2", "f4", "f8", "c8", "c16")),
    *(
        np.dtype(getattr(ml_dtypes, name))
        for name in (
            *("bfloat16", "int2", "int4", "uint2", "uint4", "float4_e2m1fn"),
            *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
            *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
        )
    ),
]
SHAPES = [(), (0, 3), (1,), (2, 3), (5, 1, 7)]

DOUBLE = """
module @double {{
  func.func public @main(%a: tensor<{n}xf64> {{{donation}}}) -> tensor<{n}xf64> {{
    %b = stablehlo.add %a, %a : tensor<{n}xf64>
    return %b : tensor<{n}xf64>
  }}
}}
"""
DONATIONS = ["tf.aliasing_output = 0 : i32", "jax.buffer_donor = true"]

FAILS_LATE = """
module @fails_late {
  func.func public @main(%a: tensor<4x4xf64>) -> tensor<4x4xf64> {
    %b:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {
      api_version = 4 : i32, backend_config = {unknown = 1 : ui8}
    } : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<i32>)
    return %b#0 : tensor<4x4xf64>
  }
}
"""
MATMULS = """
module @matmuls {
  func.func public @main(%a: tensor<1000x1000xf64>) -> tensor<4x4xf64> {
    %b = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
      : (tensor<1000x1000xf64>, tensor<1000x1000xf64>) -> tensor<1000x1000xf64>
    %c = stablehlo.slice %b [0:4, 0:4] : (tensor<1000x1000xf64>) -> tensor<4x4xf64>
    return %c : tensor<4x4xf64>
  }
}
"""


def double(n: int = 4, donation: str = "") -> client.Executable:
    return client.compile(DOUBLE.format(n=n, donation=donation))


def upload(*values: float) -> client.Buffer:
    return client.to_device(np.array(values, np.float64), owned=False)


def address(buffer: client.Buffer) -> int:
    return client.host_view(buffer).ctypes.data


def aligned(n: int) -> np.ndarray:
    """`n` ones at an address that XLA can alias."""
    raw = np.empty(8 * n + 64, np.uint8)
    start = -raw.ctypes.data % 64
    array = raw[start : start + 8 * n].view(np.float64)
    array[:] = 1
    return array


def python(code: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run `code` in a new process, with the client imported."""
    program = f"import sys; from lazytensor.backends.xla import client; {code}"
    root = str(Path(client.__file__).parents[3])
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": root} | environment,
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_calls_after_the_first_take_the_fast_way() -> None:
    program = double()
    program([upload(1, 2, 3, 4)])
    assert program._handlers is not None


def test_from_a_run_to_its_results_no_python_code_runs() -> None:
    """If it did, Ctrl-C could lose the results of a run that has overwritten its inputs."""
    program, buffers = double(), [upload(1, 2, 3, 4)]
    program.expect(buffers)
    started = program.start(buffers)
    calls: list[str] = []
    results: list[client.Buffer] = []
    sys.setprofile(lambda frame, event, arg: calls.append(event))
    results.extend(next(started))
    sys.setprofile(None)
    assert "call" not in calls
    assert client.to_host(results[0]).tolist() == [2, 4, 6, 8]


# Arrays in and out


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_upload_and_download_change_nothing(
    dtype: np.dtype, shape: tuple[int, ...], owned: bool
) -> None:
    array = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
    for put in (client.to_device, client._put_publicly):
        buffer = put(array.copy(), owned=owned)
        for made in (buffer, client.copy(buffer)):
            assert (made.dtype, made.shape) == (dtype, shape)
            host = client.to_host(made)
            assert (host.dtype, host.shape) == (dtype, shape)
            assert host.tobytes() == array.tobytes()
            assert host.flags.writeable
            assert host.flags.owndata
            view = client.host_view(made)
            assert (view.dtype, view.shape) == (dtype, shape)
            assert view.tobytes() == array.tobytes()
            assert not view.flags.writeable
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == np.float32


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("layout", ["transposed", "reversed", "strided", "broadcast", "read-only"])
def test_upload_reads_any_strides(layout: str, owned: bool) -> None:
    base = np.arange(24.0).reshape(4, 6)
    base.flags.writeable = layout != "read-only"
    array = {
        "transposed": base.T,
        "reversed": base[::-1, ::-1],
        "strided": base[::2, 1::3],
        "broadcast": np.broadcast_to(base[0], (3, 6)),
        "read-only": base,
    }[layout]
    assert np.array_equal(client.to_host(client.to_device(array, owned=owned)), array)


def test_bits_survive() -> None:
    bits = np.array([0x7FF8_0000_0000_1234, 0xFFF0_0000_0000_0001, 1 << 63, 1], np.uint64)
    buffer = client.to_device(bits.view(np.float64), owned=False)
    assert np.array_equal(client.to_host(buffer).view(np.uint64), bits)


@pytest.mark.parametrize("put", [client.to_device, client._put_publicly])
def test_an_array_that_is_not_owned_may_be_written_at_once(put: Callable[..., Any]) -> None:
    array = aligned(100_000)
    buffer = put(array, owned=False)
    array[:] = 2
    assert (client.to_host(buffer) == 1).all()


@pytest.mark.skipif(client.platform() != "cpu", reason="only a CPU reads host memory in place")
@pytest.mark.parametrize("put", [client.to_device, client._put_publicly])
def test_an_array_that_is_owned_is_not_copied(put: Callable[..., Any]) -> None:
    array = aligned(100_000)
    assert address(put(array, owned=True)) == array.ctypes.data


def test_an_owned_array_outlives_its_name() -> None:
    array = aligned(1000)
    buffer = client.to_device(array, owned=True)
    del array
    churn = [np.zeros(1000) for _ in range(100)]
    assert (client.to_host(buffer) == 1).all()
    del churn


def test_a_download_is_the_callers() -> None:
    buffer = upload(1, 2)
    client.to_host(buffer)[:] = 7
    assert client.to_host(buffer).tolist() == [1, 2]


def test_jax_in_the_same_process_is_another_client() -> None:
    theirs, mine = jnp.arange(3), upload(1, 2)
    assert client.to_host(client.to_device(np.asarray(theirs), owned=True)).tolist() == [0, 1, 2]
    assert jnp.asarray(client.host_view(mine)).tolist() == [1, 2]


# Programs


def test_results_stay_double_precision() -> None:
    (first,) = double(1)([upload(0.1)])
    (second,) = double(1)([first])
    assert client.to_host(second) == 0.4


def test_many_arguments_in_order() -> None:
    n = 70
    arguments = ", ".join(f"%a{i}: tensor<f64>" for i in range(n))
    results = ", ".join(f"%a{n - 1 - i}" for i in range(n))
    types = ", ".join(["tensor<f64>"] * n)
    program = client.compile(
        f"func.func @main({arguments}) -> ({types}) {{ return {results} : {types} }}"
    )
    buffers = [client.to_device(np.array(float(i)), owned=True) for i in range(n)]
    for _ in range(2):
        assert [float(client.to_host(x)) for x in program(buffers)] == list(range(n))[::-1]


def test_no_arguments_and_no_results() -> None:
    for _ in range(2):
        assert client.compile("func.func @main() { return }")([]) == []


def test_a_module_built_here_compiles_chlo_and_is_left_as_it_was() -> None:
    with client.context(), ir.Location.unknown():
        module = ir.Module.create()
        kind = ir.RankedTensorType.get((2,), ir.F64Type.get())
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ir.FunctionType.get([kind], [kind]))
        with ir.InsertionPoint(main.add_entry_block()):
            func.ReturnOp([chlo.erf(stablehlo.negate(main.arguments[0]))])
    before = str(module)
    (result,) = client.compile(module)([upload(0.0, 1.0)])
    assert client.to_host(result) == pytest.approx([0, -0.8427007929497149])
    assert str(module) == before


def test_text_that_is_no_module_is_refused() -> None:
    with pytest.raises(ir.MLIRError):
        client.compile("func.func @main(%a: tensor<2xf64>) { return %b }")


def test_threads_build_and_run_at_once() -> None:
    results: dict[int, float] = {}

    def work(n: int) -> None:
        (result,) = double(n)([client.to_device(np.full(n, float(n)), owned=True)])
        results[n] = float(client.to_host(result).sum())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: 2.0 * n * n for n in range(1, 9)}


def test_dispatch_does_not_wait() -> None:
    program = client.compile(MATMULS)
    a = client.to_device(np.ones((1000, 1000)), owned=True)
    results = [program([a])[0] for _ in range(20)]
    assert not client.is_ready(results[-1])
    for result in results:
        client.block_until_ready(result)
        assert client.is_ready(result)
    assert (client.to_host(results[-1]) == 1000).all()


READS: dict[str, Callable[[client.Buffer], Any]] = {
    "wait": client.block_until_ready,
    "download": client.to_host,
    "view": client.host_view,
    "copy": lambda buffer: client.block_until_ready(client.copy(buffer)),
    "compute": lambda buffer: client.block_until_ready(double(16)([buffer])[0]),
}


@pytest.mark.parametrize("read", READS)
def test_a_failure_while_running_is_raised_by_the_call_or_by_what_reads_its_result(
    read: str,
) -> None:
    program = client.compile(FAILS_LATE)
    (pending,) = client.compile(MATMULS)([client.to_device(np.ones((1000, 1000)), owned=True)])
    with pytest.raises(client.ExecutionError, match="Attribute name mismatch"):
        READS[read](program([pending])[0])
    assert client.to_host(double()([upload(1, 2, 3, 4)])[0]).tolist() == [2, 4, 6, 8]


def test_a_result_that_does_not_fit_is_an_error_that_leaves_the_client_usable() -> None:
    program = client.compile(
        "func.func @main(%a: tensor<f64>) -> tensor<1099511627776xf64> {"
        "%b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f64>) -> tensor<1099511627776xf64>"
        " return %b : tensor<1099511627776xf64> }"
    )
    with pytest.raises(client.ExecutionError, match="RESOURCE_EXHAUSTED"):
        program([client.to_device(np.array(1.0), owned=True)])
    assert client.to_host(double(1)([upload(1)])[0]) == 2


# Donation


@pytest.mark.parametrize("donation", DONATIONS)
def test_a_donated_buffer_is_written_in_place_and_gone(donation: str) -> None:
    program = double(donation=donation)
    (buffer,) = program([upload(1, 2, 3, 4)])
    for _ in range(3):
        before = address(buffer)
        (result,) = program([buffer])
        assert address(result) == before
        assert buffer.is_deleted()
        with pytest.raises(RuntimeError, match="deleted"):
            client.to_host(buffer)
        with pytest.raises(client.ExecutionError, match="deleted or donated"):
            program([buffer])
        buffer = result
    assert client.to_host(buffer).tolist() == [16, 32, 48, 64]


@pytest.mark.parametrize("donation", DONATIONS)
def test_a_host_view_is_never_written_under(donation: str) -> None:
    program = double(donation=donation)
    buffer = upload(1, 2, 3, 4)
    view = client.host_view(buffer)
    (result,) = program([buffer])
    assert client.to_host(result).tolist() == [2, 4, 6, 8]
    assert view.tolist() == [1, 2, 3, 4]
    assert not buffer.is_deleted(), "XLA donates a copy"
    del view
    program([buffer])
    assert buffer.is_deleted(), "and the buffer itself when the view is gone"


@pytest.mark.parametrize("donation", DONATIONS)
def test_owned_host_memory_is_never_written_by_a_program(donation: str) -> None:
    array = aligned(1000)
    (result,) = double(1000, donation)([client.to_device(array, owned=True)])
    assert (client.to_host(result) == 2).all()
    assert (array == 1).all()


def test_a_copy_survives_the_donation_of_its_original() -> None:
    buffer = upload(1, 2, 3, 4)
    copied = client.copy(buffer)
    double(donation=DONATIONS[0])([buffer])
    assert client.to_host(copied).tolist() == [1, 2, 3, 4]


def test_what_is_alive_is_counted() -> None:
    before = client.allocated()
    buffer = upload(*range(1000))
    assert client.allocated() - before == buffer.nbytes
    del buffer
    assert client.allocated() == before


def test_deleted_buffers_are_refused() -> None:
    buffer = upload(1, 2, 3, 4)
    client.delete(buffer)
    with pytest.raises(client.ExecutionError):
        double()([buffer])
    with pytest.raises(RuntimeError, match="deleted"):
        client.to_host(buffer)


# Executables as bytes


def test_an_executable_survives_serialisation() -> None:
    program = double(donation=DONATIONS[0])
    again = client.deserialize(program.serialize())
    buffer = upload(1, 2, 3, 4)
    assert client.to_host(again([buffer])[0]).tolist() == [2, 4, 6, 8]
    assert buffer.is_deleted()
    assert client.deserialize(again.serialize()) is not None


def test_damaged_bytes_are_refused() -> None:
    good = double().serialize()
    flips = np.random.default_rng(0).integers(0, len(good), 50)
    damaged = [b"", b"garbage" * 100, bytes(1000), good[:-1], good[: len(good) // 2], good + b"x"]
    damaged += [good[:i] + bytes([good[i] ^ 4]) + good[i + 1 :] for i in flips]
    damaged.append(client.checked(b"garbage"))
    for data in damaged:
        with pytest.raises(client.CorruptExecutable):
            client.deserialize(data)


def test_another_process_has_the_same_fingerprint_and_loads_lapack_calls() -> None:
    with jax.enable_x64(True):
        lowered = jax.jit(jnp.linalg.eigvalsh).lower(jax.ShapeDtypeStruct((2, 2), np.float64))
    data = client.compile(str(lowered.compiler_ir("stablehlo"))).serialize()
    done = python(
        f"p = client.deserialize({data!r}); import numpy as np; "
        "x = client.to_device(np.diag([2.0, 1.0]), owned=True); "
        "assert client.to_host(p([x])[0]).tolist() == [1, 2]; "
        "sys.stdout.buffer.write(client.fingerprint())"
    )
    assert (done.returncode, done.stdout) == (0, client.fingerprint()), done.stderr


def test_flags_change_the_fingerprint() -> None:
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_enable_fast_math=true"
    done = python("sys.stdout.buffer.write(client.fingerprint())", XLA_FLAGS=flags)
    assert done.returncode == 0
    assert done.stdout not in (b"", client.fingerprint())


def test_the_platform_can_be_chosen() -> None:
    assert python("print(client.platform())", LAZYTENSOR_PLATFORM="cpu").stdout == b"cpu\n"
    assert b"Unknown backend" in python("client.platform()", LAZYTENSOR_PLATFORM="abacus").stderr


def test_there_is_a_device() -> None:
    assert client.device_count() >= 1


# IEEE arithmetic, as far as XLA's defaults go


BINARY = """
func.func @main(%a: tensor<{n}x{t}>, %b: tensor<{n}x{t}>) -> tensor<{n}x{t}> {{
  %c = stablehlo.{op} %a, %b : tensor<{n}x{t}>
  return %c : tensor<{n}x{t}>
}}
"""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
def test_arithmetic_on_data_is_exact(op: str, dtype: type) -> None:
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 3, 1e30], dtype)
    random = np.random.default_rng(0).standard_normal((2, 5000)).astype(dtype)
    a = np.concatenate([np.repeat(special, special.size), random[0]])
    b = np.concatenate([np.tile(special, special.size), random[1]])
    text = BINARY.format(n=a.size, t=f"f{8 * a.itemsize}", op=op)
    (result,) = client.compile(text)([client.to_device(x, owned=True) for x in (a, b)])
    with np.errstate(all="ignore"):
        expected = getattr(np, op)(a, b)
    np.testing.assert_array_equal(client.to_host(result), expected)
    if op not in ("maximum", "minimum"):  # which zero is the larger, nobody promises
        number = ~np.isnan(expected)
        signs = np.signbit(client.to_host(result))[number]
        np.testing.assert_array_equal(signs, np.signbit(expected)[number])


SUMS_OF_HALVES = """
import numpy as np, ml_dtypes, sys
from lazytensor.core import ops
from lazytensor.core.runtime.scheduler import fetch, sync

halves = ops.leaf(np.arange(6).astype(ml_dtypes.bfloat16))
first, second = ops.add(halves, halves), ops.multiply(halves, halves)
sync(first, second)
assert "jax" not in sys.modules
fetch(first)  # which needs jax
assert "jax" in sys.modules
fetch(ops.sqrt(ops.leaf(np.ones(3))))  # tracebacks are taken from here on
assert fetch(second).tolist() == [0, 1, 4, 9, 16, 25]
"""


def test_what_was_made_before_jax_was_imported_is_read_after() -> None:
    environment = {**os.environ, "LAZYTENSOR_TIER": "compile"}
    subprocess.run([sys.executable, "-c", SUMS_OF_HALVES], env=environment, check=True)
