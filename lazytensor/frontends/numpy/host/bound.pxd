cimport cython


@cython.final
cdef class _Bound:
    cdef public object job
    cdef public long raised
    cdef public long since
    cdef public long traces
    cdef public double until
    cdef public double worked


cdef _Bound _own()

@cython.locals(own=_Bound)
cpdef bint is_raised()

@cython.locals(own=_Bound)
cdef object _count_trace(long step)

cdef bint _holds(_Bound own)

cdef bint _is_over(_Bound own)
