"""`lazytensor launch`: a script in several processes of this machine, which compute together."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import IO, Final

import click

from lazytensor import launched

INTERRUPTED: Final = 128 + signal.SIGINT
GRACE: Final = 10.0
"""Seconds that the others have to say why they end, once a process has failed."""
LOOKS_APART: Final = 0.05
GLOO: Final = re.compile(r"connected (to \d+ )?peer ranks|^\[Gloo\] Rank ")
"""What gloo writes for each device when it connects, several at once."""


@click.command(
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.option("-n", "size", required=True, type=click.IntRange(min=1), help="How many processes.")
@click.option(
    "--devices", default=1, type=click.IntRange(min=1), help="How many devices each process has."
)
@click.option("-m", "module", is_flag=True, help="SCRIPT is the name of a module.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def launch(size: int, devices: int, module: bool, script: str, arguments: tuple[str, ...]) -> int:
    """Run SCRIPT in several processes of this machine, which compute together.

    SCRIPT calls lazytensor.distributed.initialize() before it splits anything. Its output is shown
    line by line, each behind the number of its process. If a process fails, the others are ended,
    and its status is returned.
    """
    return run_in_processes([sys.executable, *["-m"] * module, script, *arguments], size, devices)


def run_in_processes(command: Sequence[str], size: int, devices: int) -> int:
    """Run a command in several processes, each with `devices` devices, to its exit status."""
    shared = {
        launched.ADDRESS: f"127.0.0.1:{_free_port()}",
        launched.PROCESSES: str(size),
        launched.LOCAL_DEVICES: str(devices),
        "PYTHONUNBUFFERED": "1",
        # As torchrun sets them, for `torch.distributed.init_process_group`.
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(_free_port()),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
    }
    started = [_started(command, shared, rank) for rank in range(size)]
    readers = [reader for rank, one in enumerate(started) for reader in _shown(one, rank, size)]
    with _passing_on(started) as interrupted:
        status = _status_of_all(started)
    for reader in readers:
        reader.join(GRACE)
    return INTERRUPTED if interrupted else status


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _started(command: Sequence[str], shared: Mapping[str, str], rank: int) -> subprocess.Popen[str]:
    """A process, in a group of its own: a Ctrl-C reaches it through us."""
    own = dict.fromkeys((launched.RANK, "RANK", "LOCAL_RANK"), str(rank))
    return subprocess.Popen(
        command,
        env={**os.environ, **shared, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        process_group=0,
    )


def _shown(process: subprocess.Popen[str], rank: int, size: int) -> Iterator[Thread]:
    """The threads that show a process's output and errors, started."""
    head = f"[{rank:{len(str(size - 1))}}] "
    for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
        assert source is not None
        reader = Thread(target=_show, args=(source, target, head), daemon=True)
        reader.start()
        yield reader


def _show(source: IO[str], target: IO[str], head: str) -> None:
    for line in source:
        if GLOO.search(line):
            continue
        with suppress(BrokenPipeError):
            target.write(f"{head}{line}" if line.endswith("\n") else f"{head}{line}\n")
            target.flush()


@contextmanager
def _passing_on(processes: Sequence[subprocess.Popen[str]]) -> Iterator[list[int]]:
    """Pass signals that would end us on to the processes; the list gets those that came."""
    came: list[int] = []

    def pass_on(number: int, _: object) -> None:
        came.append(number)
        _send(processes, number)

    names = (signal.SIGINT, signal.SIGTERM)
    before = {name: signal.signal(name, pass_on) for name in names}
    try:
        yield came
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
        _send(processes, signal.SIGKILL)


def _send(processes: Sequence[subprocess.Popen[str]], number: int) -> None:
    for process in processes:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)


def _status_of_all(processes: Sequence[subprocess.Popen[str]]) -> int:
    """0 if all end well; else the status of the first that fails, once the others have ended."""
    failed, ends = 0, None
    while any(process.poll() is None for process in processes):
        failed = failed or _failure(processes)
        if failed and ends is None:
            ends = time.monotonic() + GRACE
        if ends is not None and time.monotonic() > ends:
            _send(processes, signal.SIGKILL)
        time.sleep(LOOKS_APART)
    return failed or _failure(processes)


def _failure(processes: Sequence[subprocess.Popen[str]]) -> int:
    """The status of a process that has failed, as a shell gives it; 0 if none has."""
    ends = [process.returncode for process in processes if process.returncode]
    return 128 - ends[0] if ends and ends[0] < 0 else (ends[0] if ends else 0)
