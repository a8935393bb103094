# Compiled: each cut pauses the collection of garbage.
cdef class _Collections:
    cdef object _lock
    cdef Py_ssize_t _pauses
    cdef bint _collects

    cpdef object pause(self)
    cpdef object go_on(self)
