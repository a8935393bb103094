"""The C library's allocator, told to keep what is freed.

NumPy takes large arrays from malloc, and so do interpreted programs: of 400,000 doubles two
comparisons take 0.5 ms instead of 0.1 where their results come from the kernel each time.
XLA:CPU takes its buffers from malloc: each result, and all that a program needs meanwhile as one
block. By default glibc gives blocks of this size back to the kernel when they are freed, and the
next run pays a page fault for every 4 KiB: a Jacobi step without donation takes 6.9 ms and 1,060
faults instead of 2.3 ms and none, a BERT training step 202 ms and 34,000 instead of 175.

Blocks of more than 64 MiB are kept only by the main arena, and only where malloc may map no memory
for single blocks; and XLA's threads allocate. So there must be one arena, and that is decided when
lazytensor is imported: each thread that allocates before has an arena of its own, which XLA's
threads may be given, by chance. The price: a large block that is freed between two that are not
stays with the process, for what it allocates next.
"""

from __future__ import annotations

import ctypes
from typing import Final

from lazytensor.core.settings import settings

M_TRIM_THRESHOLD: Final = -1
M_TOP_PAD: Final = -2
M_MMAP_MAX: Final = -4
M_ARENA_MAX: Final = -8
FREED_BYTES_KEPT: Final = 1024**3
STEP: Final = 64 * 1024**2


def keep_freed_memory() -> None:
    """Let malloc keep up to 1 GiB of freed memory; LAZYTENSOR_MALLOC=0 leaves it as it is."""
    if not settings.malloc:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc and musl have it, macOS has not
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, FREED_BYTES_KEPT)
        mallopt(M_TOP_PAD, STEP)
