"""A forked process has its parent's arrays, computes with them, and ends, without XLA's threads."""

import os

import pytest

from tests.core.processes import run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")

PROLOGUE = """
import os, pickle, signal, sys, time
import numpy
import lazytensor, lazytensor.numpy as np
from lazytensor import metrics

N = 100_000
x = np.linspace(0.0, 1.0, N)
grid = np.exp(x).reshape(400, 250)
rows = grid[::2]
for n in (70_000, 71_000, 72_000, 73_000):
    roomy = np.cos(x[:n]) * 2  # in a buffer with room for more from the third on
    lazytensor.sync()
pending = np.sin(grid) * 2

def child(task):
    '''What `task` gives in a child, which ends as Python does.'''
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, pickle.dumps(numpy.asarray(task()).sum(-1)))
        sys.exit(0)
    os.close(writer)
    found = b""
    while part := os.read(reader, 2**20):
        found += part
    ended(pid)
    return pickle.loads(found)

def ended(pid):
    '''Returns when a child has ended; it may not hang.'''
    patience = time.monotonic() + 20
    while time.monotonic() < patience:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    raise SystemExit("a child hangs")
"""

RESULTS = {
    "what was computed": "return grid",
    "what is pending": "return pending",
    "a view": "return rows[3:50, ::-1]",
    "what has room": "return roomy + 1",
    "a new program": "return np.tanh(grid).cumsum(0) @ grid.T",
    "a write to all": "grid[...] = rows.mean(); return rows",
    "a write to a part": "rows[5] = 7; return grid",
    "elements": "\n    for i in range(40): grid[i, i] = i\n    return grid",
    "a mask": "return np.sort(x[x > 0.3])[:100]",
    "linear algebra": "return np.linalg.solve(grid[:200, :200] + 900 * np.eye(200), grid[0, :200])",
    "a transform": "return np.abs(np.fft.rfft(x))",
    "random numbers": "return np.random.default_rng(3).normal(size=50_000) + x[:50_000]",
    "a fork of a fork": "return child(lambda: rows * 3)[:, None]",
}


SAME = """
for name, result in results.items():
    def counted():
        found = result()
        lazytensor.sync()
        assert metrics.snapshot()["compiles"] == before
        return found

    before = metrics.snapshot()["compiles"]
    assert before > 0
    got = child(counted)
    numpy.testing.assert_allclose(got, numpy.asarray(result()).sum(-1), rtol=1e-9, err_msg=name)
"""


def test_a_child_computes_what_its_parent_would() -> None:
    table = "".join(
        f"def f():\n    {body}\nresults[{name!r}] = f\n" for name, body in RESULTS.items()
    )
    done = run(PROLOGUE + "results = {}\n" + table + SAME, LAZYTENSOR_TIER="compile")
    assert "os.fork() was called" not in done.stderr


def test_a_pool_of_processes_is_given_lazy_arrays() -> None:
    program = """
import multiprocessing
def total(part):
    return float((np.sqrt(part) + x[: part.size]).sum())

parts = [pending + i for i in range(3)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    got = pool.map(total, [part.reshape(-1) for part in parts])
assert numpy.allclose(got, [total(part.reshape(-1)) for part in parts], equal_nan=True)
print("done")
"""
    done = run(PROLOGUE + program, LAZYTENSOR_TIER="compile")
    assert done.stdout == "done\n"
    assert "os.fork() was called" not in done.stderr


def test_a_failure_is_raised_in_the_child_too_and_its_end_is_no_hang() -> None:
    program = """
singular = np.linalg.inv(grid[:100, :100] * 0)
pid = os.fork()
try:
    numpy.asarray(singular)
except numpy.linalg.LinAlgError as error:
    print("raised", flush=True)
if pid == 0:
    raise RuntimeError("of the child")
ended(pid)
"""
    done = run(PROLOGUE + program, LAZYTENSOR_TIER="compile")
    assert done.stdout == "raised\n" * 2
    assert "RuntimeError: of the child" in done.stderr


def test_a_fork_while_other_threads_cut_and_write() -> None:
    program = """
import threading
shared = np.zeros(N)
def work():
    while True:
        shared[:] = shared + 1.0
        lazytensor.sync()

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for i in range(15):
    time.sleep(0.003)
    pid = os.fork()
    if pid == 0:
        seen = numpy.asarray(shared)
        assert (seen == seen[0]).all()
        os._exit(7 if numpy.asarray(shared + 1.0)[0] != seen[0] + 1.0 else 0)
    ended(pid)
print("done", flush=True)
os._exit(0)
"""
    assert run(PROLOGUE + program, LAZYTENSOR_TIER="compile").stdout == "done\n"


def test_before_anything_is_compiled_a_child_may_compile() -> None:
    program = """
import os, sys
import numpy
import lazytensor, lazytensor.numpy as np
x = np.linspace(0.0, 1.0, 100_000)
pid = os.fork()
lazytensor.settings.tier = "compile"
total = float(np.sin(x).sum())
assert abs(total - numpy.sin(numpy.linspace(0.0, 1.0, 100_000)).sum()) < 1e-6
assert lazytensor.metrics.snapshot()["compiles"] > 0
if pid:
    assert os.waitpid(pid, 0)[1] == 0
"""
    run(program)


def test_jax_warns_those_who_use_it_themselves() -> None:
    program = """
import os
import jax
import lazytensor.numpy as np
jax.numpy.ones(3).block_until_ready()
float(np.sin(np.linspace(0.0, 1.0, 100_000)).sum())
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
"""
    assert "os.fork() was called" in run(program, LAZYTENSOR_TIER="compile").stderr


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_a_fork_while_another_thread_computes(tier: str) -> None:
    program = """
import threading
from lazytensor.core.runtime import locking

many = np.array(numpy.random.default_rng(0).random(2**22))
lazytensor.sync()
many = np.sort(many) * 2  # in memory that the thread takes
node, thread = many.node, threading.Thread(target=lambda: numpy.asarray(many))
thread.start()
while True:
    with locking.lock:
        if locking.are_elsewhere([node]) or node.value is not None:
            break
got = child(lambda: many)
thread.join()
assert got == numpy.asarray(many).sum()
print("done")
"""
    done = run(PROLOGUE + program, LAZYTENSOR_TIER=tier)
    assert done.stdout == "done\n"
