"""Philox4x32. `philox.py` has the docstrings, and does the same."""

import numpy as _np

from libc.stdint cimport uint32_t, uint64_t

from lazytensor.core.ops.random import PHILOX_FACTORS, PHILOX_ROUNDS, PHILOX_STEPS

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>

    #define FIRST 0xD2511F53ULL
    #define SECOND 0xCD9E8D57ULL
    #define LEFT 0x9E3779B9U
    #define RIGHT 0xBB67AE85U
    #define ROUNDS 10

    // The widest vectors of the processor that runs it.
    #if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && \
        defined(__gnu_linux__)
    #define VECTORS __attribute__( \
        (optimize("O3"), target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
    #else
    #define VECTORS
    #endif

    // Counters whose words are computed together. Words are 64 bits wide, as their products are.
    #define TOGETHER 32
    #define WORD 0xFFFFFFFFULL

    VECTORS static void blocks(
        uint32_t* words, uint64_t key, uint64_t low, uint64_t high, size_t count) {
      for (size_t at = 0; at < count; at += TOGETHER) {
        uint64_t a[TOGETHER], b[TOGETHER], c[TOGETHER], d[TOGETHER];
        for (int j = 0; j < TOGETHER; j++) {
          const uint64_t lows = low + at + j, highs = high + (lows < low);
          a[j] = lows & WORD, b[j] = lows >> 32, c[j] = highs & WORD, d[j] = highs >> 32;
        }
        uint32_t left = (uint32_t)key, right = (uint32_t)(key >> 32);
        for (int round = 0; round < ROUNDS; round++) {
          for (int j = 0; j < TOGETHER; j++) {
            const uint64_t first = FIRST * (a[j] & WORD), second = SECOND * (c[j] & WORD);
            a[j] = (second >> 32) ^ b[j] ^ left, c[j] = (first >> 32) ^ d[j] ^ right;
            b[j] = second & WORD, d[j] = first & WORD;
          }
          left += LEFT;
          right += RIGHT;
        }
        const size_t rest = count - at;
        for (size_t j = 0; j < (rest < TOGETHER ? rest : TOGETHER); j++) {
          uint32_t* block = words + 4 * (at + j);
          block[0] = (uint32_t)a[j], block[1] = (uint32_t)b[j];
          block[2] = (uint32_t)c[j], block[3] = (uint32_t)d[j];
        }
      }
    }
    """
    const uint64_t FIRST, SECOND
    const uint32_t LEFT, RIGHT
    const int ROUNDS
    void blocks(
        uint32_t* words, uint64_t key, uint64_t low, uint64_t high, size_t count
    ) noexcept nogil

# Constants of C, so that the rounds are unrolled.
assert (FIRST, SECOND, LEFT, RIGHT) == (*PHILOX_FACTORS, *PHILOX_STEPS)
assert ROUNDS == PHILOX_ROUNDS


def philox(key, low, high, count):
    found = _np.empty((count, 4), _np.uint32)
    cdef uint32_t[:, ::1] words = found
    cdef uint64_t number = key, lows = low, highs = high
    cdef size_t n = count
    if n:
        with nogil:
            blocks(&words[0, 0], number, lows, highs, n)
    return found


cdef void rounds(
    uint32_t* words, uint64_t key, uint64_t low, uint64_t high
) noexcept nogil:
    """The words of one counter."""
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
