"""Executables on disk: found again, never trusted, never fatal, bounded."""

import os
import random
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.device.backend import backend
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.op import leaf
from lazytensor.core.observe import metrics
from lazytensor.core.runtime import background, compilation, disk_cache
from lazytensor.core.runtime.compilation import LASTING
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.settings import settings
from tests.core.processes import run, start
from tests.core.tiers import fetched, let_xla_be_better

SCRIPT = """
    import sys
    import numpy as np
    import pytest
    from lazytensor.core.observe import metrics
    from lazytensor.core import ops
    from lazytensor.core.runtime import background
    from lazytensor.core.runtime.scheduler import sync
    from tests.core.arrays import array
    from tests.core.tiers import let_xla_be_better

    let_xla_be_better(pytest.MonkeyPatch())
    x = array(np.linspace(0, 1, int(sys.argv[1])))
    for i in range(40):
        x[1:-1] = (x[:-2] + x[2:]) * (0.5 + 0.01 * i)
        y = x.sin()
        x[i] = 1.0
        sync()
        background.drain()
        low, order = ops.sort(y.node, x.node, axis=0, keys=1)
    # Which of the two ran the last step is a matter of time, and NumPy's and XLA's sines
    # differ in their last bit: 3e6 of them by 1e-9 at most. What makes x is rounded alike.
    print(x.numpy().sum(), f"{y.numpy().sum():.6f}")
    shown = metrics.snapshot()
    print(int(shown["compiles"]), int(shown["disk_hits"]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    made = tmp_path / "compiled"
    monkeypatch.setenv("LAZYTENSOR_CACHE_DIR", str(made))
    monkeypatch.setattr(settings, "disk_bytes", settings.disk_bytes)
    settings.disk = True
    disk_cache._warn.cache_clear()  # it warns once a process
    return made


def compiled(n: int = 3, number: float = 2.0) -> list[int]:
    """Run a program as a new process would; how many compiles and disk hits that took."""
    cache.clear()
    metrics.reset()
    result = fetch(ops.multiply(leaf(np.arange(float(n))), ops.scalar(number, F64)))
    assert np.array_equal(result, np.arange(float(n)) * number)
    shown = metrics.snapshot()
    return [int(shown["compiles"]), int(shown["disk_hits"])]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xla"))


COMPILED, FOUND = [1, 0], [0, 1]


def test_an_executable_is_found_again(folder: Path) -> None:
    assert compiled() == COMPILED
    assert compiled() == FOUND
    assert len(files(folder)) == 1


def test_what_the_tiers_take_is_known_from_earlier_processes(folder: Path) -> None:
    compiled()
    trial = cache.entries()[0].trial
    for seconds in (LASTING, 2 * LASTING):
        trial.interpreted(seconds)
        trial.compiled(3 * LASTING)
    compilation._keep_seconds()  # as a process that ends does
    assert compiled() == FOUND
    trial = cache.entries()[0].trial
    assert trial.known == (LASTING, 3 * LASTING)
    assert trial.is_decided()
    assert trial.interprets()
    disk_cache.clear()
    assert not list(folder.iterdir())


def test_what_takes_no_time_is_not_kept(folder: Path) -> None:
    compiled()
    cache.entries()[0].trial.interpreted(0.9 * LASTING)
    compilation._keep_seconds()
    compiled(n=5)  # which the host has not run
    compilation._keep_seconds()
    assert not list(folder.glob("*.seconds"))


def test_another_program_is_not_found(folder: Path) -> None:
    compiled()
    assert compiled(n=4) == COMPILED
    assert compiled(number=3.0) == COMPILED  # baked in the first


@pytest.mark.parametrize(("tier", "size"), [("compile", "3000"), ("auto", "3000000")])
def test_a_second_process_compiles_nothing(folder: Path, tier: str, size: str) -> None:
    settings_of_run = {
        "LAZYTENSOR_DISK": "1",
        "LAZYTENSOR_CACHE_DIR": str(folder),
        "LAZYTENSOR_TIER": tier,
    }
    values, first = run(SCRIPT, size, **settings_of_run).stdout.splitlines()
    again, second = run(SCRIPT, size, **settings_of_run).stdout.splitlines()
    assert again == values
    compiles, hits = map(int, first.split())
    assert compiles > 0
    assert hits == 0
    assert second.split()[0] == "0"


def test_what_varies_is_known_from_earlier_processes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After its first run it has the executable that the earlier process ended with."""
    settings.tier = "auto"
    let_xla_be_better(monkeypatch)
    backend()

    def session() -> list[int]:
        cache.clear()
        metrics.reset()
        for i in range(40):
            x = leaf(np.full(2_000_000, float(i)))
            result = fetched(ops.negate(ops.multiply(x, ops.scalar(1.0 + i, F64))))
            assert result[0] == -i * (1.0 + i)
        shown = metrics.snapshot()
        return [int(shown["interpreted"]), int(shown["compiles"]), int(shown["disk_hits"])]

    assert session()[0] > 0
    assert session() == [1, 0, 1]


def test_a_program_interpreted_for_long_is_looked_for_as_it_was_compiled(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found although a first look, under other donations or numbers, was in vain."""
    settings.tier = "auto"
    let_xla_be_better(monkeypatch)
    backend()

    def session() -> list[int]:
        cache.clear()
        metrics.reset()
        shared = np.zeros(4_000_000)
        x = keep = leaf(shared)
        for i in range(400):
            x = ops.add(x, ops.scalar(float(i > 5), F64))
            fetched(x)
            keep = x if i < 3 else keep
        background.drain()
        shown = metrics.snapshot()
        return [int(shown["compiles"]), int(shown["disk_hits"])]

    assert session()[0] > 0
    assert session()[0] == 0


# Damage.


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)


DAMAGES = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(random.Random(0).randbytes(5000)),
    "garbage after the magic": lambda path: path.write_bytes(
        disk_cache.MAGIC + random.Random(0).randbytes(5000)
    ),
    "one bit of the checksum": lambda path: flip(path, len(disk_cache.MAGIC) + 3),
    "one bit of the payload": lambda path: flip(path, -100),
    "another version": lambda path: path.write_bytes(b"lazytensor 0\n" + path.read_bytes()),
    "a pickle": lambda path: path.write_bytes(b"cos\nabort\n(tR."),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_again(folder: Path, damage: str) -> None:
    compiled()
    (path,) = files(folder)
    DAMAGES[damage](path)
    with pytest.warns(LazyTensorWarning, match="is corrupt; compiling again"):
        assert compiled() == COMPILED
    assert compiled() == FOUND


def test_a_foreign_executable_is_compiled_again(folder: Path) -> None:
    """A file that is whole, but holds what XLA cannot load."""
    compiled()
    (path,) = files(folder)
    label, key, _ = disk_cache._unpack(path.read_bytes())  # type: ignore[misc]
    path.write_bytes(disk_cache._pack(key, label.decode(), b"not an executable" * 50))
    with pytest.warns(LazyTensorWarning, match="cannot be loaded"):
        assert compiled() == COMPILED
    assert compiled() == FOUND


def test_a_file_under_another_key_is_not_used(folder: Path) -> None:
    """As after a collision of hashes: the key itself is compared."""
    compiled(n=3)
    (three,) = files(folder)
    compiled(n=4)
    (four,) = set(files(folder)) - {three}
    four.write_bytes(three.read_bytes())
    assert compiled(n=4) == COMPILED


def test_names_and_contents_are_never_unpickled(folder: Path) -> None:
    folder.mkdir()
    (folder / "name.xla").write_bytes(b"cposix\nsystem\n(S'touch owned'\ntR.")
    compiled()
    assert [file.label for file in disk_cache.entries() if file.name == "name.xla"] == [""]
    source = Path(disk_cache.__file__).read_text()
    assert "pickle" not in source.replace("unpickled", "")
    assert "marshal" not in source


# Folders that cannot be written.


@contextmanager
def warned_once() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    texts = [str(w.message) for w in caught if issubclass(w.category, LazyTensorWarning)]
    assert len(texts) == 1
    assert "cannot be written" in texts[0]


def test_a_folder_that_cannot_be_made(folder: Path, tmp_path: Path) -> None:
    folder.write_text("a file is here")
    with warned_once():
        assert compiled() == COMPILED
        assert compiled() == COMPILED
    assert disk_cache.entries() == []
    assert disk_cache.clear() == (0, [])


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that refuses root")
def test_a_folder_that_takes_no_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAZYTENSOR_CACHE_DIR", "/proc")
    with warned_once():
        for n in (3, 4, 5):
            assert compiled(n) == COMPILED


def test_what_cannot_be_removed_is_told(folder: Path) -> None:
    compiled()
    (folder / "stays.xla").mkdir()
    removed, left = disk_cache.clear()
    assert removed == 1
    assert [error.filename for error in left] == [str(folder / "stays.xla")]


def test_a_folder_below_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.disk = True
    disk_cache._warn.cache_clear()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LAZYTENSOR_CACHE_DIR", str(tmp_path / "file" / "folder"))
    with warned_once():
        assert compiled() == COMPILED


def test_a_full_disk(folder: Path) -> None:
    """Writing fails half-way: a warning, the result, and nothing left behind."""
    program = """
        import resource, signal, warnings
        import numpy as np
        from lazytensor.core import ops
        from lazytensor.core.device.backend import backend
        from lazytensor.core.ir.op import leaf
        from lazytensor.core.runtime.scheduler import fetch
        backend()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            print(fetch(ops.sin(leaf(np.zeros(3)))).tolist())
            print(fetch(ops.cos(leaf(np.zeros(3)))).tolist())
        print([str(w.message) for w in caught])
    """
    done = run(
        program,
        LAZYTENSOR_DISK="1",
        LAZYTENSOR_CACHE_DIR=str(folder),
        LAZYTENSOR_TIER="compile",
        PYTHONDONTWRITEBYTECODE="1",  # or half a module is left for the next process
    )
    zeros, ones, message = done.stdout.splitlines()
    assert (zeros, ones) == ("[0.0, 0.0, 0.0]", "[1.0, 1.0, 1.0]")
    assert message.count("cannot be written") == 1
    assert "File too large" in message
    assert list(folder.iterdir()) == []


# Bounds.


def test_the_least_recently_used_are_removed(folder: Path) -> None:
    for n in (3, 4, 5):
        compiled(n)
    for n in (4, 3, 5):
        for path in folder.iterdir():
            before = path.stat().st_mtime - 100
            os.utime(path, (before, before))
        assert compiled(n) == FOUND
    settings.disk_bytes = sum(path.stat().st_size for path in folder.iterdir()) + 100
    compiled(6)
    assert compiled(5) == FOUND
    assert compiled(3) == FOUND
    assert compiled(4) == COMPILED
    assert sum(path.stat().st_size for path in folder.iterdir()) <= settings.disk_bytes


def test_a_limit_below_one_file_keeps_none(folder: Path) -> None:
    settings.disk_bytes = 10
    assert compiled() == COMPILED
    assert files(folder) == []


def test_what_a_killed_writer_left_is_removed(folder: Path) -> None:
    folder.mkdir()
    old, new = folder / ".new-old", folder / ".new-new"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    compiled()
    assert not old.exists()
    assert new.exists()


def test_eviction_opens_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of files must not make a compile slow."""
    folder.mkdir()
    for i in range(50):
        (folder / f"{i}.xla").write_bytes(b"x")
    opened: list[Path] = []
    original = Path.open
    monkeypatch.setattr(
        Path, "open", lambda self, *a, **k: (opened.append(self), original(self, *a, **k))[1]
    )
    compiled()
    assert len(opened) <= 2


# Several processes.


def test_four_writers_at_once(folder: Path) -> None:
    workers = [
        start(
            SCRIPT,
            "3000",
            LAZYTENSOR_DISK="1",
            LAZYTENSOR_CACHE_DIR=str(folder),
            LAZYTENSOR_TIER="compile",
        )
        for _ in range(4)
    ]
    results = [worker.communicate() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4, results
    assert len({out.splitlines()[0] for out, _ in results}) == 1
    assert not list(folder.glob(".new-*"))
    for path in files(folder):
        assert disk_cache._unpack(path.read_bytes()) is not None


def test_a_writer_that_is_killed_leaves_no_bad_file(folder: Path) -> None:
    program = """
        import itertools, sys
        from pathlib import Path
        from lazytensor.core.runtime import disk_cache as disk
        for i in itertools.count():
            print(i)
            key = b"key %d" % (i % 7)
            disk._write(disk._path(key), key, "label", bytes(3_000_000))
    """
    rng = random.Random(1)
    for _ in range(5):
        with start(program, LAZYTENSOR_CACHE_DIR=str(folder)) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.06))
            writer.kill()
        for path in files(folder):
            parts = disk_cache._unpack(path.read_bytes())
            assert parts is not None
            assert len(parts[2]) == 3_000_000
