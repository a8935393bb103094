"""What may happen while a program is compiled in the background: ends, forks, Ctrl-C, failures."""

import os
import sys
from pathlib import Path

import pytest

from tests.core.processes import INTERRUPTIBLE, attempt, run

PROLOGUE = """
import os, sys, time
import numpy
import lazytensor, lazytensor.numpy as np
from lazytensor.core.runtime import background, cost_model
from lazytensor.core.runtime.locking import working

lazytensor.settings.small = 0
cost_model.COMPILING_SHARE = 1e-6  # everything that comes back is compiled
x = np.linspace(0.0, 1.0, 20_000)
lazytensor.sync()

def step(length=8):
    y = x
    for _ in range(length):
        y = np.sin(y) * 0.5 + x
    return float(y.sum())

def until_it_compiles():
    '''Run steps until the worker is in a job.'''
    end = time.monotonic() + 30
    while not working.locked():
        step()
        assert time.monotonic() < end
    return step()
"""


def disk(folder: Path) -> dict[str, str]:
    return {
        "LAZYTENSOR_DISK": "1",
        "LAZYTENSOR_CACHE_DIR": str(folder),
        "LAZYTENSOR_TIER": "auto",
    }


def test_a_process_that_ends_meanwhile_keeps_what_is_compiled(tmp_path: Path) -> None:
    done = run(PROLOGUE + "until_it_compiles(); print('end')", **disk(tmp_path))
    assert done.stdout == "end\n"
    assert "Traceback" not in done.stderr
    assert len(list(tmp_path.glob("*.xla"))) == 1


def test_the_executable_comes_without_a_wait_and_gives_the_same() -> None:
    program = """
before = until_it_compiles()
background.drain()
counts = lazytensor.metrics.snapshot()
assert (counts["compiles"], counts["cache_hits"]) == (1, 0), counts
assert abs(step() - before) < 1e-9 * abs(before)
step()
counts = lazytensor.metrics.snapshot()
assert counts["compiles"] == 1 and counts["cache_hits"] >= 1, counts
"""
    run(PROLOGUE + program, LAZYTENSOR_TIER="auto")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_fork_meanwhile_has_a_child_that_computes_and_ends() -> None:
    program = """
expected = until_it_compiles()
pid = os.fork()
assert abs(step() - expected) < 1e-9 * abs(expected)
if pid:
    assert os.waitpid(pid, 0)[1] == 0
    background.drain()
    step()
    print(lazytensor.metrics.snapshot()["compiles"])
"""
    done = run(PROLOGUE + program, LAZYTENSOR_TIER="auto")
    assert done.stdout == "1\n"


def test_a_ctrl_c_meanwhile_is_the_users_and_the_compile_goes_on() -> None:
    program = """
import signal
until_it_compiles()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
    raise SystemExit("no Ctrl-C came")
except KeyboardInterrupt:
    pass
background.drain()
step()
print(lazytensor.metrics.snapshot()["compiles"])
"""
    done = run(INTERRUPTIBLE + PROLOGUE + program, LAZYTENSOR_TIER="auto")
    assert done.stdout == "1\n"


@pytest.mark.parametrize("error", ["RuntimeError('no options')", "SystemExit(1)"])
def test_a_compile_that_fails_is_a_warning_and_the_host_goes_on(error: str) -> None:
    """Options that cannot be made stand for a compiler that fails."""
    program = """
import warnings
expected = step()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    end = time.monotonic() + 30
    while not caught and time.monotonic() < end:
        assert step() == expected
        background.drain()
    for _ in range(5):
        assert step() == expected
print(len(caught), caught[0].category.__name__, "NumPy runs them" in str(caught[0].message))
"""
    broken = f"""
from lazytensor.backends.xla import client
def options():
    raise {error}
client.compile_options = options
"""
    done = run(PROLOGUE + broken + program, LAZYTENSOR_TIER="auto")
    assert done.stdout == "1 LazyTensorWarning True\n"


def test_a_full_disk_is_a_warning_and_what_is_compiled_runs(tmp_path: Path) -> None:
    """A folder that cannot be made stands for it."""
    (tmp_path / "file").write_text("")
    program = """
until_it_compiles()
background.drain()
step()
counts = lazytensor.metrics.snapshot()
assert counts["compiles"] == 1, counts
print("done")
"""
    done = attempt(PROLOGUE + program, **disk(tmp_path / "file" / "folder"))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "executables are not kept" in done.stderr


def test_a_compile_that_is_overdue_gets_a_processor_of_the_hosts_products() -> None:
    program = """
from lazytensor.core.device import host_threads
from lazytensor.core.runtime import locking

seen, outside = [], locking.outside
count = host_threads.products().size

def noting(*args):
    seen.append(count())
    return outside(*args)

locking.outside = noting
before = count()
until_it_compiles()
cost_model.COMPILE_SECONDS = cost_model.COMPILE_SECONDS_PER_OPERATION = 1e-7
for _ in range(3):
    step()
meanwhile = seen[-1]
background.drain()
lazytensor.settings.tier = "interpret"
step()
print(before, seen[0], meanwhile, seen[-1])
"""
    done = run(PROLOGUE + program, LAZYTENSOR_TIER="auto", OPENBLAS_NUM_THREADS="2")
    assert done.stdout in ("2 2 1 2\n", "1 1 1 1\n"), "the last is another BLAS, or one processor"


def test_garbage_is_collected_while_xla_compiles_and_all_is_as_before_after() -> None:
    program = """
import gc
until_it_compiles()
collected = False
while working.locked():
    collected = collected or gc.isenabled()
background.drain()
print(collected, gc.isenabled(), sys.getswitchinterval())
gc.disable()
sys.setswitchinterval(0.25)
step(9)
step(9)
background.drain()
print(gc.isenabled(), sys.getswitchinterval())
"""
    done = run(PROLOGUE + program, LAZYTENSOR_TIER="auto")
    assert done.stdout == "True True 0.005\nFalse 0.25\n"


def test_no_environment_variable_is_set_meanwhile() -> None:
    """In a thread: another one that reads the environment in C would crash, at times."""
    program = """
before = dict(os.environ)
until_it_compiles()
background.drain()
matrix = np.asarray(numpy.random.default_rng(0).random((60, 60)) + 60 * numpy.eye(60))
for _ in range(20):
    float(np.linalg.inv(matrix).sum())
    background.drain()
print("jax" in sys.modules, dict(os.environ) == before)
"""
    done = run(PROLOGUE + program, LAZYTENSOR_TIER="auto")
    assert done.stdout == "True True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities on Linux only")
def test_only_the_threads_that_compile_are_lowered() -> None:
    program = """
import threading
from pathlib import Path

def classes():  # by name: the scheduler's class and the niceness of threads
    found = {}
    for task in Path("/proc/self/task").iterdir():
        name, thread = (task / "comm").read_text().strip(), int(task.name)
        kind = os.sched_getscheduler(thread), os.getpriority(os.PRIO_PROCESS, thread)
        found.setdefault(name, set()).add(kind)
    return found

(mine,) = classes().values()
until_it_compiles()
background.drain()
users = threading.Thread(target=time.sleep, args=(0.5,))
users.start()
found = classes()
users.join()
(low,), ((_, nice),) = found["lazytensor-xla"], mine
others = found[Path("/proc/self/comm").read_text().strip()]
print(others == mine, low in ((os.SCHED_IDLE, nice), (os.SCHED_OTHER, 10)))
"""
    done = run(PROLOGUE + program, LAZYTENSOR_TIER="auto")
    assert done.stdout == "True True\n"


def test_a_look_for_a_program_that_is_not_on_disk_imports_no_backend(tmp_path: Path) -> None:
    looking = PROLOGUE.replace("COMPILING_SHARE = 1e-6", "SECONDS_PER_CALL = 1e9")  # nothing pays
    program = """
from lazytensor.core.device.backend import is_loaded
cost_model.TRYING_SHARE = 1e-9  # all that comes back is looked for
cost_model.is_loaded = lambda: True
step()
step()
background.drain()
print(is_loaded())
"""
    assert run(looking + program, **disk(tmp_path)).stdout == "False\n"
    compiling = "until_it_compiles(); background.drain()"
    assert run(PROLOGUE + compiling, **disk(tmp_path)).stdout == ""
    assert run(looking + program, **disk(tmp_path)).stdout == "True\n"


def test_a_job_that_is_dropped_claims_no_processor() -> None:
    program = """
import gc
from lazytensor.core.device import host_threads

until_it_compiles()
with working:  # another job would wait
    y = x * 3.0
    float((np.cos(y) + 1.0).sum())
    float((np.cos(y) + 1.0).sum())
    entries = [job.entry() for job in background._queue.jobs]
    for entry in entries:
        background.hurry(entry)
    assert entries and len(host_threads._claims) == len(entries)
    for entry in entries:
        background.finish(entry)
        assert entry.job is None
    gc.collect()
    assert not host_threads._claims
"""
    run(PROLOGUE + program, LAZYTENSOR_TIER="auto")
