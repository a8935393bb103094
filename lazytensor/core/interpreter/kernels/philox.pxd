from libc.stdint cimport uint32_t, uint64_t

# Four words of one counter; torch's boxed kernel calls it, too.
cdef void rounds(uint32_t* words, uint64_t key, uint64_t low, uint64_t high) noexcept nogil
