"""Philox4x32. `philox.py` has the docstrings, and does the same."""

import numpy as _np

from libc.stdint cimport uint32_t, uint64_t

from lazytensor.core.ops.random import PHILOX_FACTORS, PHILOX_ROUNDS, PHILOX_STEPS

cdef extern from *:
    """
    #define FIRST 0xD2511F53ULL
    #define SECOND 0xCD9E8D57ULL
    #define LEFT 0x9E3779B9U
    #define RIGHT 0xBB67AE85U
    #define ROUNDS 10
    """
    const uint64_t FIRST, SECOND
    const uint32_t LEFT, RIGHT
    const int ROUNDS

# Constants of C, so that the rounds are unrolled.
assert (FIRST, SECOND, LEFT, RIGHT) == (*PHILOX_FACTORS, *PHILOX_STEPS)
assert ROUNDS == PHILOX_ROUNDS


def philox(key, low, high, count):
    found = _np.empty((count, 4), _np.uint32)
    cdef uint32_t[:, ::1] words = found
    cdef uint64_t number = key, lows = low, highs = high
    cdef Py_ssize_t i, n = count
    with nogil:
        for i in range(n):
            rounds(&words[i, 0], number, lows + <uint64_t>i, highs + (lows + <uint64_t>i < lows))
    return found


cdef void rounds(
    uint32_t* words, uint64_t key, uint64_t low, uint64_t high
) noexcept nogil:
    cdef uint32_t a = <uint32_t>low, b = <uint32_t>(low >> 32)
    cdef uint32_t c = <uint32_t>high, d = <uint32_t>(high >> 32)
    cdef uint32_t left = <uint32_t>key, right = <uint32_t>(key >> 32)
    cdef uint64_t first, second
    cdef int round
    for round in range(ROUNDS):
        first, second = FIRST * a, SECOND * c
        a, c = <uint32_t>(second >> 32) ^ b ^ left, <uint32_t>(first >> 32) ^ d ^ right
        b, d = <uint32_t>second, <uint32_t>first
        left += LEFT
        right += RIGHT
    words[0], words[1], words[2], words[3] = a, b, c, d
