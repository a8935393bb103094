# Compiled: each cut makes a request, or reads one.
cdef class Request:
    cdef readonly str cause
    cdef readonly Py_ssize_t largest
    cdef readonly bint once
    cdef readonly bint compiles
    cdef readonly list runs
    cdef readonly bint defers
