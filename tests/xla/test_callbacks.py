"""Ops that the host runs within a program, by XLA's call back into Python."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lazytensor.backends.xla import callbacks, client, module
from lazytensor.backends.xla.callbacks import Callback
from lazytensor.backends.xla.tables import HOST
from lazytensor.core import ops
from lazytensor.core.device import host_threads
from lazytensor.core.ir.dtypes import F64, NARROW_INTS
from lazytensor.core.ir.op import Op, leaf
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.observe import metrics
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.processes import attempt, run
from tests.ops.sample import Sample, all_samples

SORTED = np.random.default_rng(0).standard_normal(40_000)


def by_op() -> dict[Op, list[Sample]]:
    """Per op with operands: its samples."""
    found: dict[Op, list[Sample]] = {}
    for sample in all_samples():
        if sample.arrays and not any(x.dtype in NARROW_INTS for x in sample.arrays):
            found.setdefault(sample.op, []).append(sample)
    return found


SAMPLES = by_op()


@pytest.fixture
def one_thread() -> Iterator[None]:
    """The number of BLAS threads decides in which order a product adds: one, for both sides."""
    narrowed = host_threads.narrow(convolves=True)
    yield
    host_threads.widen(narrowed)


@pytest.mark.usefixtures("compiled", "one_thread")
@pytest.mark.parametrize("op", SAMPLES, ids=lambda op: op.name)
def test_what_is_called_gives_what_the_host_gives(op: Op, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its types and results are, in one program for all samples."""
    samples = SAMPLES[op]
    monkeypatch.setattr(settings, "tier", "interpret")
    expected = [[fetch(node) for node in sample.record()] for sample in samples]
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(module, "HOST", {op: lambda *_, **__: True})
    cache.clear()
    nodes = [sample.record() for sample in samples]
    sync(*(node for made in nodes for node in made))
    for sample, made, wanted in zip(samples, nodes, expected, strict=True):
        for node, array in zip(made, wanted, strict=True):
            found = fetch(node)
            assert (found.dtype, found.shape) == (array.dtype, array.shape), sample
            assert found.tobytes() == array.tobytes(), sample


@pytest.mark.usefixtures("compiled")
def test_the_program_is_whole() -> None:
    cache.clear()
    metrics.reset()
    x = ops.multiply(leaf(SORTED), leaf(SORTED))
    found = fetch(ops.negate(ops.sort(x, axis=0)))
    np.testing.assert_array_equal(found, -np.sort(SORTED * SORTED))
    assert (metrics.counts["compiles"], metrics.counts["cuts"]) == (1, 1)
    (entry,) = cache.entries()
    assert entry.executable is not None
    assert entry.executable.calls_back


@pytest.mark.usefixtures("compiled")
def test_an_op_without_a_lowering_is_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    lowerings = {op: row for op, row in module.LOWERINGS.items() if op is not ops.sin}
    monkeypatch.setattr(module, "LOWERINGS", lowerings)
    cache.clear()
    x = np.linspace(0.0, 1.0, 5)
    assert fetch(ops.negate(ops.sin(leaf(x)))).tolist() == (-np.sin(x)).tolist()
    (entry,) = cache.entries()
    assert entry.executable is not None
    assert entry.executable.calls_back


@pytest.mark.usefixtures("compiled")
def test_an_error_of_the_host_is_raised_where_the_value_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError("there is no room")

    monkeypatch.setattr(callbacks, "function_of", lambda *_: fails)
    cache.clear()
    with pytest.raises(client.ExecutionError, match="there is no room"):
        fetch(ops.sort(leaf(SORTED), axis=0))


def test_callbacks_are_read_as_they_were_written() -> None:
    one, two = tensor_type(F64, (3, 4)), tensor_type(np.dtype("i8"), ())
    made = [
        Callback("sort", (0, ("a", None), 1.5, True), (one, two), one),
        Callback("svd", (), (one,), (one, two)),
    ]
    assert callbacks.callbacks_in(callbacks.text_of(made)) == made


def test_what_has_no_literal_is_not_kept() -> None:
    one = tensor_type(F64, (3,))
    with pytest.raises(ValueError, match="no literals"):
        callbacks.text_of([Callback("sort", (np.dtype("f8"),), (one,), one)])


PROGRAM = """
import numpy as np
import lazytensor
import lazytensor.numpy as lnp

lazytensor.settings.small = 0
x = lnp.array(np.random.default_rng(0).standard_normal(400_000))

def step(scale):
    return lnp.sort(x * scale) + 1.0
"""
ENDS = {
    "the process ends": "step(2.0); lazytensor.sync(); print('end')",
    "nobody has the result": "y = step(2.0); lazytensor.sync(); del y; print('end')",
    "the process forks": """
import os
y = step(2.0)
lazytensor.sync()
child = os.fork()
if not child:
    assert float(np.asarray(y).max()) > 1.0
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("end")
""",
    "threads run it": """
import threading
ended = []
def work(scale):
    found = np.asarray(step(scale))
    ended.append(np.array_equal(found, np.sort(np.asarray(x) * scale) + 1.0))
threads = [threading.Thread(target=work, args=(i + 1.0,)) for i in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("end" if ended == [True] * 6 else ended)
""",
}


@pytest.mark.parametrize("name", ENDS)
def test_nothing_is_under_way_when(name: str) -> None:
    done = run(PROGRAM + ENDS[name], LAZYTENSOR_TIER="compile")
    assert done.stdout == "end\n"


def test_an_interrupt_leaves_everything_as_it_was() -> None:
    program = """
import signal, time
signal.signal(signal.SIGALRM, signal.default_int_handler)
np.asarray(step(2.0))
for i in range(20):
    y = step(i + 3.0)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 * (i + 1))
        np.asarray(y)
        time.sleep(1.0)
    except KeyboardInterrupt:
        pass
    assert np.array_equal(np.asarray(y), np.sort(np.asarray(x) * (i + 3.0)) + 1.0)
print("end")
"""
    done = attempt(PROGRAM + program, LAZYTENSOR_TIER="compile")
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


@pytest.mark.parametrize("made", ["step(3.0)", "np.sort(x)"])
def test_an_interrupt_at_the_start_of_a_callback_is_one(made: str) -> None:
    program = f"""
import sys

def interrupt(frame, event, _):
    if event == "call" and frame.f_code.co_filename.endswith("callbacks.py"):
        sys.setprofile(None)
        raise KeyboardInterrupt

for _ in range(2):
    np.asarray({made})
for _ in range(50):  # now and then XLA calls back in a thread of its own
    y = {made}
    sys.setprofile(interrupt)
    try:
        np.asarray(y)
    except KeyboardInterrupt:
        print("interrupted")
        break
    finally:
        sys.setprofile(None)
print(np.array_equal(np.asarray(y), np.asarray({made})))
"""
    assert run(PROGRAM + program, LAZYTENSOR_TIER="compile").stdout == "interrupted\nTrue\n"


def test_another_process_runs_what_is_on_disk(tmp_path: Path) -> None:
    program = """
found = np.asarray(step(2.0))
counts = lazytensor.metrics.snapshot()
print(np.array_equal(found, np.sort(np.asarray(x) * 2.0) + 1.0))
print(counts["compiles"], counts["disk_hits"])
"""
    disk = {"LAZYTENSOR_DISK": "1", "LAZYTENSOR_CACHE_DIR": str(tmp_path)}
    said = [run(PROGRAM + program, LAZYTENSOR_TIER="compile", **disk).stdout for _ in range(2)]
    assert said == ["True\n1 0\n", "True\n0 1\n"]
    assert os.listdir(tmp_path)


def test_the_hosts_ops_have_a_lowering_too() -> None:
    """For other platforms."""
    assert all(op in module.LOWERINGS for op in HOST)
