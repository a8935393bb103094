"""Programs on a mesh where something goes wrong: the disk, a fork, a Ctrl-C, several threads."""

from pathlib import Path

import pytest

from tests.core.processes import run

STEP = """
    import sys
    import numpy
    import lazytensor
    from lazytensor.core.observe import metrics

    mesh = lazytensor.Mesh((4, 2), ("a", "b"))
    x = lazytensor.shard(numpy.arange(64.0 * 32).reshape(64, 32), mesh, ("a", "b"))
    for _ in range(3):
        x = x * 0.5 + x.sum(axis=0)
        lazytensor.sync()
    print(float(x.sum()), metrics.counts["compiles"], metrics.counts["disk_hits"])
    """


def said(folder: Path) -> list[float]:
    return list(
        map(float, run(STEP, LAZYTENSOR_DISK="1", LAZYTENSOR_CACHE_DIR=str(folder)).stdout.split())
    )


def test_the_next_process_compiles_nothing(tmp_path: Path) -> None:
    first, second = said(tmp_path), said(tmp_path)
    assert first[1] > 0 == first[2]
    assert second == [first[0], 0, first[1]]


def test_damaged_files_are_compiled_again(tmp_path: Path) -> None:
    first = said(tmp_path)
    for path in tmp_path.glob("*.xla"):
        data = bytearray(path.read_bytes())
        data[-100] ^= 4
        path.write_bytes(data)
    done = run(STEP, LAZYTENSOR_DISK="1", LAZYTENSOR_CACHE_DIR=str(tmp_path))
    assert list(map(float, done.stdout.split())) == first
    assert "is corrupt; compiling again" in done.stderr


@pytest.mark.parametrize("how", ["forked child", "exit"])
def test_a_process_ends_with_runs_under_way(how: str, tmp_path: Path) -> None:
    program = """
        import os, sys
        import numpy
        import lazytensor

        mesh = lazytensor.Mesh((8,), ("x",))
        x = lazytensor.shard(numpy.ones((512, 512)), mesh, ("x",))
        for _ in range(40):
            x = x @ x / 512.0
            lazytensor.sync()
        if sys.argv[1] == "forked child":
            child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            print(float(x[0, 0]))
        """
    done = run(program, how, LAZYTENSOR_CACHE_DIR=str(tmp_path))
    assert done.stdout.split() == (["1.0"] if how == "forked child" else [])


def test_threads_share_a_mesh(tmp_path: Path) -> None:
    """Collectives of two programs at once would wait for each other."""
    program = """
        from threading import Thread
        import numpy
        import lazytensor

        mesh, found = lazytensor.Mesh((8,), ("x",)), {}

        def work(number):
            x = lazytensor.shard(numpy.full((64, 8), float(number)), mesh, ("x",))
            for _ in range(30):
                x = x + x.sum(axis=0) * 0.0
                lazytensor.sync()
            found[number] = float(x.sum())

        threads = [Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(sorted(found.items()))
        """
    done = run(program, LAZYTENSOR_CACHE_DIR=str(tmp_path))
    assert done.stdout.strip() == str([(n, 512.0 * n) for n in range(4)])
