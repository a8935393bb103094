"""Freed memory stays with the process, whichever thread has allocated it."""

import os
import platform
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's arenas")

SCRIPT = """
import ctypes, os, resource, tempfile, threading
import lazytensor, lazytensor.numpy as np

def allocate():
    blocks = [bytearray(10_000) for _ in range(100)]
    ready.wait()

ready = threading.Barrier(4)
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()

def step(x):  # the sorted numbers are a temporary of 80 MB
    return float(np.sort(x).reshape(-1, 2)[:, 0].max())

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    step(x)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

x = np.random.default_rng(0).random(10_000_000)
least = min(faults() for _ in range(10))

libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
path = tempfile.mktemp()
file = ctypes.c_void_p(libc.fopen(path.encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
print(open(path).read().count("<heap nr"), least)
os.unlink(path)
"""


def arenas_and_faults(**variables: str) -> tuple[int, int]:
    """In a process: how many arenas malloc has, and the least page faults of a run of ten."""
    environment = {**os.environ, "LAZYTENSOR_TIER": "compile", **variables}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    arenas, faults = map(int, re.findall(r"\d+", done.stdout)[-2:])
    return arenas, faults


def test_threads_share_an_arena_that_keeps_large_blocks() -> None:
    arenas, faults = arenas_and_faults()
    assert arenas == 1
    assert faults < 1000


def test_malloc_may_be_left_alone() -> None:
    arenas, faults = arenas_and_faults(LAZYTENSOR_MALLOC="0")
    assert arenas > 1
    assert faults > 10_000
