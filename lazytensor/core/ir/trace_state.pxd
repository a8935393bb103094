cimport cython

from lazytensor.core.ir.pending cimport PendingCells
from lazytensor.core.ir.recording cimport PendingWork, here


cdef class Recorder(PendingWork):
    cdef public PendingCells cells
    cdef public bint tracing
    cdef public long long asked
    cdef public Py_ssize_t busy
    cdef public Py_ssize_t looks
    cdef public object loop
    cdef public object loops
    cdef public object passed
    cdef public object previous
    cdef public object refused
    cdef public Py_ssize_t repeats
    cdef public Py_ssize_t rounds
    cdef public long long serial
    cdef public long long span
    cdef public long long steady
    cdef public long long stride
    cdef public long long usual
    cdef public long long watched


@cython.locals(recorder=Recorder)
cpdef Recorder with_room()
