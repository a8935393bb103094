"""Ctrl-C at any moment: every array is readable and right, and the next cut works."""

import pytest

from tests.core.processes import run

PROLOGUE = """
import os, random, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import lazytensor
from lazytensor.core import ops
from lazytensor.core.device.backend import backend
from tests.core.arrays import array

backend()
N = 20_000
rng = random.Random(int(sys.argv[1]))
armed = caught = 0  # numbers of trials: a lock could be held when the Ctrl-C comes

def interrupt(trials, longest):
    for trial in range(1, trials + 1):
        while armed < trial:
            time.sleep(0.0002)
        time.sleep(rng.uniform(0, longest))
        while caught < trial:  # Python drops one that comes while it collects garbage
            os.kill(os.getpid(), signal.SIGINT)
            patience = time.monotonic() + 5
            while caught < trial and time.monotonic() < patience:
                time.sleep(0.0002)

def until_interrupted(step, trials, longest):
    '''Take steps until a Ctrl-C, `trials` times; `step.check` checks the state after each.'''
    global armed, caught
    if os.environ.get("HYPOTHESIS_PROFILE") != "nightly":
        trials = trials // 3
    threading.Thread(target=interrupt, args=(trials, longest), daemon=True).start()
    for trial in range(1, trials + 1):
        try:
            armed = trial
            while True:
                step()
        except KeyboardInterrupt:
            caught = trial
        step.check()
        assert goes_on()
    print("survived", step.taken)
    sys.stdout.flush()
    os._exit(0)  # XLA's threads may still be at work
"""

ALONE = """
def goes_on():
    return True
"""

BESIDE = """
rounds = []
def count():
    '''In a thread of its own, which is never interrupted.'''
    y = array(np.zeros(N))
    while set(y.numpy()) == {len(rounds)}:
        y[:] = y + 1.0
        rounds.append(1)

threading.Thread(target=count, daemon=True).start()

def goes_on():
    before, patience = len(rounds), time.monotonic() + 20
    while len(rounds) < before + 2 and time.monotonic() < patience:
        time.sleep(0.0002)
    return len(rounds) >= before + 2
"""

IN_PLACE = """
class Step:
    '''Two arrays that count the steps; the second may be one behind.'''

    def __init__(self):
        self.a, self.b = array(np.zeros(N)), array(np.zeros(N))
        self.taken = 0

    def __call__(self):
        self.a[:] = self.a + 1.0
        self.b[1:-1] = self.b[1:-1] + 1.0
        lazytensor.sync()
        self.taken += 1

    def check(self):
        a, b = self.a.numpy(), self.b.numpy()
        assert len(set(a)) == len(set(b[1:-1])) == 1, (set(a), set(b))
        assert self.taken <= b[1] <= a[0] <= self.taken + 1, (self.taken, a[0], b[1])
        assert b[0] == b[-1] == 0
        self.b[1:-1] = self.a[1:-1]
        self.taken = int(a[0])
        assert self.b.numpy()[1] == self.taken
"""

PROGRAMS = {
    "in place": IN_PLACE + "until_interrupted(Step(), 150, 0.004)",
    "with a host operation": IN_PLACE
    + """
class Sorting(Step):
    def __call__(self):
        low, high = ops.sort(self.a.node, ops.negate(self.a.node), axis=0, keys=1)
        self.a.holder.write(ops.add(ops.negate(high), ops.scalar(1.0, low.type.dtype)))
        self.b[1:-1] = self.b[1:-1] + 1.0
        lazytensor.sync()
        self.taken += 1

until_interrupted(Sorting(), 100, 0.01)
""",
    "many compiles": IN_PLACE
    + """
class Compiling(Step):
    '''A program of another length each time.'''

    def __call__(self):
        for _ in range(30 + self.taken % 20):
            self.a[:] = (self.a * 2.0 - self.a).sin() * 0.0 + self.a
        super().__call__()
        lazytensor.core.runtime.program_cache.cache.clear()

import lazytensor.core.runtime.program_cache
until_interrupted(Compiling(), 12, 0.6)
""",
    "observations": IN_PLACE
    + """
class Observing(Step):
    def __call__(self):
        self.a[:] = self.a + 1.0
        self.b[1:-1] = self.b[1:-1] + 1.0
        self.a.numpy(), self.b.numpy()
        self.taken += 1

until_interrupted(Observing(), 100, 0.004)
""",
    "steps that are settled later": IN_PLACE
    + """
from lazytensor.core.runtime import scheduler
from tests.core.test_settling import positive

class Deferring(Step):
    def __call__(self):
        self.a[:] = self.a + 1.0
        self.a.holder.write(positive(self.a))
        self.b[1:-1] = self.b[1:-1] + 1.0
        scheduler.sync(cause="a step", defers=True)
        self.taken += 1

until_interrupted(Deferring(), 150, 0.004)
""",
    "automatic cuts": IN_PLACE
    + """
class Alone(Step):
    def __call__(self):
        self.a[:] = self.a + 1.0
        self.b[1:-1] = self.b[1:-1] + 1.0
        self.taken += 1

until_interrupted(Alone(), 30, 0.2)
""",
}


@pytest.mark.parametrize("others", [ALONE, BESIDE], ids=["alone", "beside another thread"])
@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("in place", "compile"),
        ("in place", "interpret"),
        ("with a host operation", "compile"),
        ("many compiles", "compile"),
        ("steps that are settled later", "compile"),
        ("observations", "compile"),
        ("observations", "auto"),
        ("automatic cuts", "interpret"),
    ],
)
def test_a_ctrl_c_leaves_every_array_right(name: str, tier: str, others: str) -> None:
    done = run(PROLOGUE + others + PROGRAMS[name], "1", LAZYTENSOR_TIER=tier)
    assert done.stdout.startswith("survived")


@pytest.mark.parametrize("moment", [0.0, 0.03, 0.1, 0.3])
def test_a_ctrl_c_while_jax_is_imported(moment: float) -> None:
    program = """
        import os, signal, sys, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import numpy as np
        from lazytensor.core import ops
        from lazytensor.core.ir.op import leaf
        from lazytensor.core.runtime.scheduler import fetch

        def interrupt():
            time.sleep(float(sys.argv[1]))
            os.kill(os.getpid(), signal.SIGINT)

        try:
            threading.Thread(target=interrupt).start()
            fetch(ops.sin(leaf(np.zeros(3))))
            time.sleep(5)
        except KeyboardInterrupt:
            print("interrupted")
        print(fetch(ops.cos(leaf(np.zeros(3)))))
    """
    done = run(program, str(moment), LAZYTENSOR_TIER="compile")
    assert done.stdout.splitlines() == ["interrupted", "[1. 1. 1.]"]


FIRST_COMPILE = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import lazytensor
from lazytensor.core.device.backend import backend
from tests.core.arrays import array

backend()
made = []

def context_of(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "_own_context" and not made:
        made.append(frame)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

threading.settrace(context_of)
sys.settrace(context_of)
x = array(np.zeros(4)) + 1.0
try:
    x.numpy()
except KeyboardInterrupt:
    print("interrupted")
print(x.numpy())
"""


def test_a_ctrl_c_in_the_first_compile_leaves_no_half_of_a_context() -> None:
    done = run(FIRST_COMPILE, LAZYTENSOR_TIER="compile", LAZYTENSOR_DISK="0")
    assert done.stdout.splitlines() == ["interrupted", "[1. 1. 1. 1.]"]


DIALECTS = """
import sys
import numpy as np
import lazytensor
from lazytensor.backends.xla import client
from lazytensor.core import ops
from lazytensor.core.device.backend import backend
from tests.core.arrays import array

backend()
client.context()
before = set(sys.modules)
x = array(np.zeros(20_000))
low, high = ops.sort(x.node, ops.negate(x.node), axis=0, keys=1)
x.holder.write(ops.add(low, high))
x[1:-1] = x[1:-1] + 1.0
lazytensor.sync()
print([name for name in sorted(set(sys.modules) - before) if "mlir" in name])
"""


def test_no_dialect_is_imported_by_code_that_a_ctrl_c_would_end() -> None:
    done = run(DIALECTS, LAZYTENSOR_TIER="compile", LAZYTENSOR_DISK="0")
    assert done.stdout.splitlines() == ["[]"]
