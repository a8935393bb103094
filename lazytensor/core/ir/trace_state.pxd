from lazytensor.core.ir.pending cimport PendingCells
from lazytensor.core.ir.recording cimport PendingWork


cdef class Recorder(PendingWork):
    cdef public PendingCells cells
    cdef public bint tracing
    cdef public object asked
    cdef public object busy
    cdef public object loop
    cdef public object loops
    cdef public object passed
    cdef public object previous
    cdef public object refused
    cdef public object repeats
    cdef public object rounds
    cdef public object serial
    cdef public object span
    cdef public object steady
    cdef public object stride


cpdef object overflow()
