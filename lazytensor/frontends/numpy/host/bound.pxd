cimport cython


@cython.final
cdef class _State:
    cdef public object job
    cdef public long raised
    cdef public long since
    cdef public long traces
    cdef public double until
    cdef public double worked


cdef _State _own()

@cython.locals(own=_State)
cpdef bint is_raised()

@cython.locals(own=_State)
cdef object _count_trace(long step)

cdef bint _holds(_State own)

cdef bint _is_over(_State own)
