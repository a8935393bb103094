"""Several processes where something goes wrong: one dies, leaves, hangs, or does something else."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.core.processes import INTERRUPTIBLE, Done, attempt, environment, launch, said_by

BEGIN = """
    import os, signal, sys, time
    import numpy
    import lazytensor
    import lazytensor.numpy as np

    lazytensor.distributed.initialize()
    me = lazytensor.distributed.rank()
    mesh = lazytensor.Mesh((lazytensor.distributed.device_count(),), ("x",))
    x = lazytensor.shard(numpy.arange(96.0 * 8).reshape(96, 8), mesh, ("x",))

    def step(x):
        x = x * 0.5 + x.sum(axis=0) / 96
        lazytensor.sync()
        return x

    x = step(step(x))
    before = float(x.sum())
    """
GO_ON = """
    for _ in range(2000):
        x = step(x)
    print(float(x.sum()))
    """
DIES = r"ProcessError: process 1 \(.*, pid \d+\) has (ended|died).*script\.py:\d+"
CASES: dict[str, tuple[str, str]] = {
    "is killed": ("if me == 1: os.kill(os.getpid(), signal.SIGKILL)", DIES),
    "raises": (
        "if me == 1: raise ValueError('mine')",
        r"ProcessError: process 1 \(.*\) has ended with ValueError: mine; its last line was",
    ),
    "ends early": ("if me == 1: sys.exit(0)", DIES),
    "runs another program": (
        "x = x.T @ x if me == 1 else x - 1.0",
        r"ProcessError: process 0 runs the program of .*script\.py:\d+ in step, "
        r"1 that of .*script\.py:\d+ in step: all must run the same ones",
    ),
    "runs another known program": (
        "x = step(x) if me == 1 else x * float(x.sum())",
        r"ProcessError: process \d runs the program of .*script\.py:\d+ in \S+, "
        r"\d that of .*script\.py:\d+ in \S+: all must run the same ones",
    ),
    "has other values": (
        "x = x * np.array(numpy.arange(8.0) + me)",
        r"ProcessError: process 1 has other values for the program of .*script\.py:\d+ in step: ",
    ),
    "splits other values": (
        "x = x + lazytensor.shard(numpy.full((96, 8), float(me)), mesh, ('x',))",
        r"ProcessError: process 1 has other values for the program of .*script\.py:\d+ in step: ",
    ),
    "never comes": (
        "if me == 1: time.sleep(60)",
        r"ProcessError: process 1 \(.*\) has not come for \d+ s; its last line was .*script\.py",
    ),
}


class Scenario(NamedTuple):
    """A program for several processes, and seconds for which they wait for each other."""

    text: str
    size: int = 2
    devices: int = 2
    timeout: int = 8


SCENARIOS = {case: Scenario(f"{BEGIN}\n    {what}\n{GO_ON}") for case, (what, _) in CASES.items()}
SCENARIOS["the first dies"] = Scenario(
    f"{BEGIN}\n    if me == 0: os.kill(os.getpid(), signal.SIGKILL)\n{GO_ON}", 3, 1
)
SCENARIOS["is slow"] = Scenario(
    f"""{BEGIN}
    if me == 1: time.sleep(12)
    print(float(step(x).sum()), os.environ["LAZYTENSOR_COORDINATOR"])
    """,
    timeout=60,
)
SCENARIOS["a small program"] = Scenario(
    f"""{BEGIN.replace("before = float(x.sum())", "float(x[0].sum())")}
    if me == 1: time.sleep(60)
    print(float(x[0].sum()))
    """,
    devices=1,
)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Done, float]]:
    """How each scenario ended, after how long. Two run at once, as they mostly wait."""

    folders = {name: tmp_path_factory.mktemp("scenario") for name in SCENARIOS}  # in one thread

    def run(name: str) -> tuple[Done, float]:
        text, size, devices, timeout = SCENARIOS[name]
        folder, start = folders[name], time.monotonic()
        most = str(timeout)
        done = launch(text, size, devices, folder=folder, LAZYTENSOR_PEER_TIMEOUT=most)
        return done, time.monotonic() - start

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(SCENARIOS, pool.map(run, SCENARIOS), strict=True))


Outcomes = dict[str, tuple[Done, float]]


@pytest.mark.parametrize("case", CASES)
def test_the_others_hear_which_process_it_is(case: str, outcomes: Outcomes) -> None:
    message, (done, seconds) = CASES[case][1], outcomes[case]
    assert seconds < 60
    assert done.returncode != 0
    assert any(re.match(f".*{message}", line) for line in said_by(0, done.stderr)), done.stderr
    assert "Check failure" not in done.stderr  # XLA would end all processes so


def test_the_first_process_may_die_too(outcomes: Outcomes) -> None:
    done, _ = outcomes["the first dies"]
    assert done.returncode == 128 + signal.SIGKILL
    for rank in (1, 2):
        assert re.search(r"ProcessError: process \d \(.*\) has (died|ended)", done.stderr)
        assert "ProcessError" in "".join(said_by(rank, done.stderr))


def test_another_program_is_shown_by_its_first_line_that_differs(outcomes: Outcomes) -> None:
    done, _ = outcomes["runs another program"]
    assert "there: %1: f64[8,96] = transpose(%0, axes=(1, 0))" in said_by(0, done.stderr)[-1]
    assert "transpose" in said_by(1, done.stderr)[-2]


def test_a_slow_process_is_waited_for(outcomes: Outcomes) -> None:
    done, _ = outcomes["is slow"]
    assert done.returncode == 0, done.stderr
    assert said_by(0, done.stdout) == said_by(1, done.stdout) != []
    assert "waits for process 1, which is running" in done.stderr


def test_a_small_program_that_xla_runs_at_once_is_watched(outcomes: Outcomes) -> None:
    done, _ = outcomes["a small program"]
    assert "has not come for" in done.stderr


def test_a_ctrl_c_ends_all(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    lines = f"{INTERRUPTIBLE}\nprint('begun', flush=True)\nwhile True: float(step(x).sum())"
    script.write_text(BEGIN.replace("\n    ", "\n") + lines)
    command = [sys.executable, "-m", "lazytensor", "launch", "-n", "2", str(script)]
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "begun" in process.stdout.readline() + process.stdout.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=45)
    assert process.returncode == 128 + signal.SIGINT
    for rank in (0, 1):
        assert any("KeyboardInterrupt" in line for line in said_by(rank, errors)), errors


def test_a_process_that_does_not_come_is_an_error() -> None:
    program = """
        import lazytensor
        lazytensor.distributed.initialize("127.0.0.1:1", 2, 1, timeout=2)
        """
    done = attempt(program)
    assert "ProcessError: initialize: 2 processes were expected at 127.0.0.1:1" in done.stderr


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("initialize('a:1', 2)", "address, size and rank were expected together"),
        ("initialize('a', 2, 0)", "an address host:port was expected, got 'a'"),
        ("initialize('a:1', 2, 2)", "a rank below 2, the number of processes, was expected, got 2"),
        ("initialize('a:1', 2, 0, devices=0)", "one device or more was expected, got 0"),
    ],
)
def test_numbers_that_do_not_fit_are_named(call: str, message: str) -> None:
    done = attempt(f"import lazytensor\nlazytensor.distributed.{call}")
    assert f"ValueError: initialize: {message}" in done.stderr


def test_it_comes_before_meshes_and_once(tmp_path: Path) -> None:
    program = """
        import numpy, lazytensor
        if {early}:
            lazytensor.shard(numpy.ones(4), lazytensor.Mesh((2,), ("x",)), ("x",))
        lazytensor.distributed.initialize()
        lazytensor.distributed.initialize()
        """
    for early, message in ((1, "a mesh is in use already"), (0, "one of several already")):
        done = launch(program.replace("{early}", str(early)), 1, 1, folder=tmp_path)
        assert message in done.stderr


def test_a_process_uses_meshes_with_devices_of_its_own(tmp_path: Path) -> None:
    program = """
        import numpy, lazytensor
        lazytensor.distributed.initialize()
        for size in (2, 8):
            try:
                lazytensor.shard(numpy.ones(8), lazytensor.Mesh((size,), ("x",)), ("x",))
            except ValueError as error:
                print(error)
        """
    done = launch(program, 2, 2, folder=tmp_path)
    assert said_by(1, done.stdout) == [
        "Mesh(x=2): process 1 has none of its devices",
        "Mesh(x=8): there are 4 devices",
    ]


def test_no_coordinator_is_left(outcomes: Outcomes) -> None:
    address = said_by(0, outcomes["is slow"][0].stdout)[0].split()[-1]
    end = time.monotonic() + 30
    while _coordinators(address) and time.monotonic() < end:
        time.sleep(0.5)
    assert not _coordinators(address)


def _coordinators(address: str) -> list[str]:
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            if address.encode() in words:
                found.append(name)
    return found


def test_an_address_that_is_taken_is_an_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        program = f"""
            import lazytensor
            lazytensor.distributed.initialize("{address}", 1, 0, timeout=5)
            """
        done = attempt(program)
    assert f"ProcessError: no coordinator can listen at {address}" in done.stderr


def test_a_fork_waits_for_runs_and_the_parent_goes_on(tmp_path: Path) -> None:
    program = f"""{BEGIN}
    x = step(step(x))
    child = os.fork()
    if not child:
        os._exit(3)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(status, float(step(x).sum()))
    """
    done = launch(program, 2, 2, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert said_by(0, done.stdout) == said_by(1, done.stdout)
    assert said_by(0, done.stdout)[0].startswith("3 ")
