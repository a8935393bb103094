"""Compiling in the background: a thread makes executables, and nobody waits.

Data flow: `tiers` finds that a program is due → `want` queues a `Job` → the worker looks the
program up on disk, imports the backend, and loads or compiles the program → the program's next run
takes what the job has found (`take`). Until then the host runs the program. Invariants:

- A job has all that it needs when it is made. The worker changes nothing that a run reads.
- A run takes an executable only if the program's slots are still what the job assumed.
- The worker takes the job on which the host has spent most; what only measures forms comes last.
  It drops a job whose program has been forgotten.
- `working` is held while a job is under way. A fork waits for it. So does the end of the process,
  as XLA's threads must not outlive the interpreter; jobs that wait are dropped then.
- A compile that fails is a warning, once a program: the host goes on running it.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from weakref import ref

from lazytensor.core.device import gil, host_threads
from lazytensor.core.device.backend import Effort
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.core.ir.recording import Place, user_place
from lazytensor.core.observe.recompile_reason import MEASURED, Change
from lazytensor.core.observe.warnings import warn_at
from lazytensor.core.runtime import cost_model, equivalent_programs, fork, locking
from lazytensor.core.runtime.compilation import give, reason
from lazytensor.core.runtime.program_cache import Entry, Twin
from lazytensor.core.runtime.rehearsal import rehearse
from lazytensor.core.runtime.run import Run

if TYPE_CHECKING:
    from lazytensor.core.runtime.disk_cache import Found, Wanted

REHEARSED_SECONDS: Final = 0.1
"""Seconds of a run by the host, at most, beside which an executable's first runs are long."""
LOADED: Final = "loaded from disk"
"""How a run came by an executable that an earlier process had compiled."""


class Job:
    """A program whose executable is wanted, and what was found. `place`: the user's line.

    `compiles`: whether that pays where nothing is on disk. `changes`: of the slots' history, when
    the job was made. `data`: the slots that the executable is given. `is_recorded`: whether the
    program is the one that was recorded. `how` is set last: "compiled", "loaded from disk",
    "missing" from there, "failed", or "twin" where another program is run.
    """

    def __init__(self, run: Run, compiles: bool, effort: Effort = Effort.APART) -> None:
        # A program that compiles nothing does not wait for these imports.
        from lazytensor.core.runtime import disk_cache

        entry = run.entry
        self.entry = ref(entry)
        self.wanted: Wanted = disk_cache.wanted(entry, run.owned)
        self.compiles, self.effort = compiles, effort
        self.changes = entry.history.changes
        self.data = entry.history.data(run.packed)
        self.owned: Sequence[bool] = run.owned
        self.is_recorded = run.exact is None
        self.place: Place | None = user_place()
        self.how = ""
        self.found: Found | None = None
        self.twin: Twin | None = None
        self.error: BaseException | None = None

    def is_good(self, run: Run) -> bool:
        """Whether the executable may be run: the slots are what it assumes."""
        assert self.found is not None
        own, history = self.wanted.history, self.found.history
        if history is own:
            return run.entry.history is own and self.changes == own.changes
        return history.allows(run.packed)  # as earlier processes have known them


class _Queue:
    """The jobs, and the thread that does them."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None
        self.idle = True
        self.closed = False


_queue: Final = _Queue()
working: Final = locking.working
"""Held by the worker while it does a job."""


def want(run: Run, compiles: bool = True, effort: Effort = Effort.APART) -> None:
    """Queue the run's program, unless it is queued. `compiles`: if it is not on disk."""
    entry = run.entry
    if entry.job is not None or _queue.closed:
        return
    job = entry.job = Job(run, compiles, effort)
    with _queue.changed:
        _queue.jobs.append(job)
        if _queue.thread is None:
            _start()
        _queue.changed.notify_all()


def is_under_way(entry: Entry) -> bool:
    """Whether the entry has a job that has not ended."""
    return entry.job is not None and not entry.job.how


def hurry(entry: Entry) -> None:
    """Leave a processor to the job of an entry: the host's kernels take one thread until it ends.

    Their threads spin for a while after each kernel, so that little else ever runs.
    """
    with _queue.changed:
        if is_under_way(entry):
            host_threads.claim(entry.job)


def finish(entry: Entry) -> None:
    """Wait for an entry's job if it is under way; drop it if it only waits."""
    with _queue.changed:
        job = entry.job
        if job in _queue.jobs:
            _queue.jobs.remove(job)
            entry.job = None
        elif job is not None:
            with gil.without_rest():
                _queue.changed.wait_for(lambda: job.how or _queue.closed)


def take(run: Run) -> None:
    """Give the run's entry what its job has found, if that has ended."""
    entry = run.entry
    job = entry.job
    if job is None or not job.how:
        return
    entry.job = None
    if job.how == "failed":
        entry.refused = True
        text = f"XLA could not compile {entry.program.size} operations, so NumPy runs them"
        warn_at(job.place, f"{text}: {job.error}", LazyTensorWarning)
    elif job.twin is not None:
        entry.twin = job.twin
    elif job.how == "missing":
        entry.sought = True
    elif job.found is not None and job.is_good(run):
        _give(entry, job, _change(run, job))


def _change(run: Run, job: Job) -> Change | None:
    """Why the program was compiled, if it was."""
    if job.how != "compiled":
        return None
    if job.effort is Effort.MEASURED:
        return Change(MEASURED, "forms of convolutions were measured meanwhile")
    return reason(run)


def _give(entry: Entry, job: Job, change: Change | None) -> None:
    assert job.found is not None
    entry.arrived = job.how, change
    give(entry, job.found, job.wanted, job.owned)


def load(run: Run) -> bool:
    """Give the run's entry its executable from disk, now; whether it was there."""
    from lazytensor.core.runtime import disk_cache

    job = Job(run, compiles=False)
    job.how, job.found = LOADED, disk_cache.find(job.wanted)
    if job.found is None or not job.is_good(run):
        run.entry.sought = job.found is None
        return False
    _give(run.entry, job, None)
    return True


def drain() -> None:
    """Wait until no job is queued or under way."""
    with gil.without_rest(), _queue.changed:
        _queue.changed.wait_for(lambda: not _queue.jobs and _queue.idle)


def _start() -> None:
    """Start the worker. What it imports takes locks at forks, which comes after ours then."""
    import logging  # noqa: F401

    fork.watch()
    if not _queue.closed:
        atexit.register(_close)
    _queue.thread = threading.Thread(target=_work, name="lazytensor compiler", daemon=True)
    _queue.thread.start()


def _close() -> None:
    """Drop what waits, and wait for what is under way."""
    with _queue.changed:
        _queue.closed = True
        _queue.jobs.clear()
        _queue.changed.notify_all()
    with gil.without_rest(), working:  # which is free once the job under way has ended
        pass


def restart() -> None:
    """Forget the worker, which a forked process lacks; the next job starts another one."""
    _queue.thread = None
    _queue.changed = threading.Condition()
    _queue.idle = True


fork.in_child.append(restart)


def _work() -> None:
    while True:
        with _queue.changed:
            _queue.idle = True
            _queue.changed.notify_all()
            _queue.changed.wait_for(lambda: _queue.jobs)
            _queue.idle = False
        with working:
            job = _next()
            if job is not None:
                _do(job)


def _next() -> Job | None:
    """The job on which the host has spent most, off the queue."""
    with _queue.changed:
        _queue.jobs[:] = [job for job in _queue.jobs if job.entry() is not None]
        if not _queue.jobs:
            return None
        job = max(_queue.jobs, key=_urgency)
        _queue.jobs.remove(job)
        return job


def _urgency(job: Job) -> tuple[bool, float]:
    entry = job.entry()
    return job.effort is Effort.APART, 0.0 if entry is None else entry.spent


def _do(job: Job) -> None:
    try:
        with gil.yielding():
            how = _found(job)
    except BaseException as error:  # noqa: BLE001  whatever is raised, the host runs the program
        job.error, how = error, "failed"
    with _queue.changed:
        job.how = how
        host_threads.release(job)
        _queue.changed.notify_all()


def _found(job: Job) -> str:
    """What is found for a job, in a word; the job has the rest."""
    from lazytensor.core.runtime import disk_cache

    program, entry = job.wanted.program, job.entry()
    if job.is_recorded and entry is not None:
        job.twin = equivalent_programs.find(entry)
        if job.twin is not None:
            return "twin"
    how, job.found = LOADED, _kept(job)
    if job.found is None:
        if not job.compiles:
            return "missing"
        how = "compiled"
        job.found = disk_cache.make(job.wanted, program.places, job.place, job.effort)
        if entry is not None and cost_model.once(entry) < REHEARSED_SECONDS:
            rehearse(job.found.executable, program, job.data)
    if job.is_recorded and entry is not None:
        equivalent_programs.remember(entry)
    return how


def _kept(job: Job) -> Found | None:
    """What is on disk. It is there soon, so the look and the load get a processor and the GIL."""
    from lazytensor.core.runtime import disk_cache

    host_threads.claim(job)
    try:
        with gil.without_rest():
            return disk_cache.find(job.wanted)
    finally:
        host_threads.release(job)
