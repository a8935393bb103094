# Compiled: each run of a program asks a trial, and tells it.
cimport cython


@cython.final
cdef class Trial:
    cdef list _best, _fresh
    cdef bint _cold
    cdef object _tried
    cdef Py_ssize_t _left
    cdef double _spent, _lost
    cdef bint _may_open
    cdef Py_ssize_t _interval, _runs
    cdef double _lately

    cpdef bint interprets(self)
    cpdef bint is_open(self)
    cpdef bint is_decided(self)
    cpdef object interpreted(self, double seconds)
    cpdef object ran(self)
    cdef double _seconds(self, int tier)
    cdef bint _is_hosts(self)
    cdef bint _is_tried(self, int tier)
    cdef object _try(self, int tier, double seconds)
    cdef object _end(self, int tier)
    cdef object _start(self, int tier)
    cdef object _count(self)


cdef class Costs:
    cdef readonly Py_ssize_t size, operations
    cdef readonly double elements
    cdef public double spent
    cdef public Py_ssize_t runs
    cdef readonly Trial trial
