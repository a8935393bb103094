# Compiled: each run of a program asks it.
cimport cython


@cython.final
cdef class _Locked:
    pass


cpdef object outside(object nodes=*, Py_ssize_t size=*)
