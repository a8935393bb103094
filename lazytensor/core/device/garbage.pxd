# Compiled: each cut pauses the collection of garbage.
cimport cython


@cython.final
cdef class _Pauses:
    cdef object _lock
    cdef Py_ssize_t _count
    cdef bint _collects

    cpdef object begin(self)
    cpdef object end(self)


cdef _Pauses _pauses
cpdef object pause()
cpdef object go_on()
