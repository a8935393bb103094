"""Executables on disk: on by default, bounded, written atomically, never trusted.

A file holds a checksum, the whole key (the program's text, the baked slots, the donations, and the
backend's fingerprint) and the executable. Its name is the hash of the program, by which one without
an executable is found out before the backend is imported, and of the key. The key itself is
compared when it is read. What cannot be read is recompiled; what cannot be written is warned about
once, and the work goes on. Beside it lies what the next process need not find out again: which of
the program's slots vary, and the seconds that each tier takes for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache as once
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

from lazytensor.core.device.backend import Effort, Executable, backend
from lazytensor.core.device.processes import cluster
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.core.ir.assumptions import Assumptions
from lazytensor.core.ir.composite import composites
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.observe import metrics
from lazytensor.core.passes.donation import donations
from lazytensor.core.passes.specialize import SlotHistory
from lazytensor.core.runtime.announce import announced
from lazytensor.core.runtime.program_cache import Entry
from lazytensor.core.runtime.tier_timing import HOST
from lazytensor.core.settings import settings

Pairs = tuple[tuple[int, int], ...]
"""Donations, see `donation.donations`."""

MAGIC: Final = b"lazytensor 1\n"
SEPARATOR: Final = b"\0"
"""What is between a program's text and the rest of a key."""
SUFFIX: Final = ".xla"
SLOTS_SUFFIX: Final = ".slots"
SECONDS_SUFFIX: Final = ".seconds"
CHOICES_SUFFIX: Final = ".json"
"""The suffix of files with what a backend has found by measuring."""
NEW: Final = ".new-"
"""How the name of a file begins that is being written."""


class File(NamedTuple):
    """One executable on disk. `used` is in seconds since the epoch, `size` in bytes."""

    name: str
    size: int
    used: float
    label: str


class Cleared(NamedTuple):
    """How many executables were removed, and why each file that is left could not be."""

    removed: int
    left: list[OSError]


def folder() -> Path:
    """Where executables are kept: LAZYTENSOR_CACHE_DIR, or the user's cache folder."""
    chosen = os.environ.get("LAZYTENSOR_CACHE_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("lazytensor"))


def limit() -> int:
    """Bytes that the folder may take."""
    return settings.disk_bytes


def entries() -> list[File]:
    """The executables in the folder, last used first."""
    files = []
    for path in _paths(SUFFIX):
        with suppress(OSError):
            stat = path.stat()
            files.append(File(path.name, stat.st_size, stat.st_mtime, _label(path)))
    return sorted(files, key=lambda file: -file.used)


def clear() -> Cleared:
    """Remove every executable, and what was found by measuring."""
    removed, left = 0, []
    for path in _paths(SUFFIX, SLOTS_SUFFIX, SECONDS_SUFFIX, CHOICES_SUFFIX):
        try:
            path.unlink(missing_ok=True)
            removed += path.suffix == SUFFIX
        except OSError as error:
            left.append(error)
    return Cleared(removed, left)


class Wanted(NamedTuple):
    """An executable that is looked for or made: of this program, with these donations.

    `assumed` is what it may rely on of the slots that had this `history`.
    """

    program: Program
    history: SlotHistory
    assumed: Assumptions
    pairs: Pairs


def wanted(entry: Entry, owned: Sequence[bool]) -> Wanted:
    """What an entry needs when nobody else has the inputs `owned`."""
    program, history = entry.program, entry.history
    return Wanted(program, history, history.assumptions(program), donations(program, owned))


class Found(NamedTuple):
    """An executable, the slots' history that it is good for, and what another process has timed."""

    executable: Executable
    history: SlotHistory
    seconds: tuple[float, float] | None = None


def find(this: Wanted) -> Found | None:
    """The executable from disk, if it is there, by what other processes know of its slots too.

    The backend is imported only if there is an executable of the program, of whichever slots.
    """
    if not settings.disk:
        return None
    text = _text(this.program)
    if not any(folder().glob(f"{_hash(text.encode())}*{SUFFIX}")):
        return None
    # Several processes must assume the same, and each may find another file.
    is_alone = cluster() is None or not this.program.meshes
    learned = _learned(this.history, text) if is_alone and not this.history.changes else None
    if learned is not None:
        known = this._replace(history=learned, assumed=learned.assumptions(this.program))
        found = _find(known, text)
        if found is not None:
            return Found(found, learned, _seconds(text))
    found = _find(this, text)
    return None if found is None else Found(found, this.history, _seconds(text))


def keep_seconds(entry: Entry) -> None:
    """Put on disk what the tiers take for an entry's program, as far as that is known."""
    seconds = entry.trial.known
    if entry.executable is not None and entry.executable.is_provisional:
        seconds = seconds[HOST], inf  # the next process has the better one
    key = _key_of_seconds(_text(entry.program))
    keep(key, "seconds by the host and by XLA", json.dumps(seconds).encode, SECONDS_SUFFIX)


def _seconds(text: str) -> tuple[float, float] | None:
    """What another process has kept by `keep_seconds` for the program of this text."""
    payload = kept(_key_of_seconds(text), SECONDS_SUFFIX)
    if payload is None:
        return None
    by_host, by_xla = json.loads(payload)
    return by_host, by_xla


def _key_of_seconds(text: str) -> bytes:
    return text.encode() + SEPARATOR + backend().fingerprint()


def _learned(history: SlotHistory, text: str) -> SlotHistory | None:
    """The slots as earlier processes have known them, if they have learned anything."""
    payload = kept(text.encode(), SLOTS_SUFFIX)
    return None if payload is None else history.informed(payload)


def _find(this: Wanted, text: str) -> Executable | None:
    key = _key(this, text)
    with metrics.timed("loading"):
        payload = kept(key)
        if payload is None:
            return None
        executable = _executable(_path(key), payload, this.program)
    metrics.count("disk_hits", executable is not None)
    return executable


def _executable(path: Path, payload: bytes, program: Program) -> Executable | None:
    try:
        return backend().load(payload, program)
    except Exception as error:  # noqa: BLE001  whatever it is, compiling again is the answer
        _warn(f"{path} cannot be loaded ({error}); compiling again")
        return None


def make(
    this: Wanted,
    places: Sequence[Place | None],
    place: Place | None,
    effort: Effort = Effort.WAITED,
) -> Found:
    """Compile the program, for the user's line `place`, and put the executable on disk.

    What is provisional is not kept: another process would never have the better one.
    """
    program = this.program
    with announced(program, place):
        executable = backend().compile(program, this.assumed, this.pairs, places, effort)
    metrics.count("compiles")
    if settings.disk and not executable.is_provisional:
        _store(this, executable)
    return Found(executable, this.history)


def _store(this: Wanted, executable: Executable) -> None:
    text = _text(this.program)
    label = f"{this.program.size} instructions"
    keep(_key(this, text), label, executable.serialize)
    if this.history.changes:
        keep(text.encode(), label, this.history.known, SLOTS_SUFFIX)


def kept(key: bytes, suffix: str = SUFFIX) -> bytes | None:
    """What `keep` put on disk under this key, if it is there."""
    if not settings.disk:
        return None
    path = _path(key, suffix)
    payload = _read(path, key)
    if payload is not None:
        with suppress(OSError):
            os.utime(path)
    return payload


def keep(key: bytes, label: str, payload: Callable[[], bytes], suffix: str = SUFFIX) -> None:
    """Put an executable on disk. A folder that cannot be written to is warned of once."""
    if not settings.disk:
        return
    try:
        _write(_path(key, suffix), key, label, payload())
    except Exception as error:  # noqa: BLE001  a full disk, or what XLA cannot serialise
        # Not the whole text of an OSError, which names a file that is another each time.
        reason = error.strerror if isinstance(error, OSError) else error
        _warn(f"{folder()} cannot be written ({reason}); executables are not kept")


def identity(this: Wanted) -> str:
    """All that is compiled, as text."""
    return f"{_text(this.program)}\n{this.assumed.text()}\n{this.pairs}\n"


def _key(this: Wanted, text: str) -> bytes:
    rest = f"{this.assumed.text()}\n{this.pairs}\n".encode() + backend().fingerprint()
    return text.encode() + SEPARATOR + rest


def _text(program: Program) -> str:
    """All that the program is, the bodies of its composites included."""
    bodies = "\n".join(f"{name}: {body}" for name, body in sorted(composites(program).items()))
    return f"{program}\n{bodies}"


def _path(key: bytes, suffix: str = SUFFIX) -> Path:
    return folder() / (_hash(key.partition(SEPARATOR)[0]) + _hash(key) + suffix)


def _hash(text: bytes) -> str:
    """Half of the text's hash, as a part of a file's name."""
    return hashlib.sha256(text).hexdigest()[:32]


def _paths(*suffixes: str) -> list[Path]:
    with suppress(OSError):
        return [p for s in suffixes for p in folder().glob(f"*{s}")]
    return []


def _pack(key: bytes, label: str, payload: bytes) -> bytes:
    parts = [label.encode(), key, payload]
    body = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return MAGIC + hashlib.sha256(body).digest() + body


def _unpack(data: bytes) -> list[bytes] | None:
    """Label, key and payload; None if the data is not what `_pack` made."""
    head = len(MAGIC)
    body = data[head + 32 :]
    if data[:head] != MAGIC or hashlib.sha256(body).digest() != data[head : head + 32]:
        return None
    parts = []
    while body:
        size = int.from_bytes(body[:8], "little")
        parts.append(body[8 : 8 + size])
        body = body[8 + size :]
    return parts if len(parts) == 3 else None


def _label(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(len(MAGIC) + 32 + 8 + 200)
    at = len(MAGIC) + 32
    size = int.from_bytes(head[at : at + 8], "little")
    return head[at + 8 : at + 8 + min(size, 200)].decode(errors="replace")


def _read(path: Path, key: bytes) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    parts = _unpack(data)
    if parts is None:
        _warn(f"{path} is corrupt; compiling again")
        with suppress(OSError):
            path.unlink()
        return None
    return parts[2] if parts[1] == key else None


def _write(path: Path, key: bytes, label: str, payload: bytes) -> None:
    """Write beside, then rename: a reader sees the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = _pack(key, label, payload)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=NEW)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _make_room(len(data))


_room: Final[dict[tuple[Path, int], int]] = {}
"""Per folder and limit: bytes that may be written until its files are looked at, which takes long:
there are thousands."""
LOOKS: Final = 64
"""Looks at the least while as much is written as there may be: other processes write, too."""


def _make_room(written: int) -> None:
    """Keep the folder within its limit. written: bytes that were added."""
    place = folder(), limit()
    left = _room.get(place, 0) - written
    _room[place] = left if left > 0 else min(-_evict(), limit() // LOOKS)


def _evict() -> int:
    """Remove the least recently used executables until the folder is within its limit.

    The result is by how much it is beyond that: mostly it is negative.
    """
    found, now = [], time.time()
    with suppress(OSError), os.scandir(folder()) as files:
        for file in files:
            with suppress(OSError):
                stat = file.stat()
                if file.name.endswith((SUFFIX, SLOTS_SUFFIX, SECONDS_SUFFIX)):
                    found.append((stat.st_mtime, stat.st_size, file.path))
                elif file.name.startswith(NEW) and now - stat.st_mtime > 3600:
                    os.unlink(file.path)  # left by a process that was killed while it wrote
    excess = sum(size for _, size, _ in found) - limit()
    for _, size, path in sorted(found):
        if excess <= 0:
            break
        with suppress(OSError):
            os.unlink(path)
        excess -= size
    return excess


@once
def _warn(text: str) -> None:
    warnings.warn(f"lazytensor's disk cache: {text}", LazyTensorWarning, stacklevel=2)
