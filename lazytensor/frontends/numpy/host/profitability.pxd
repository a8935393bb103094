# Compiled: each cut is noted.
cimport cython

from lazytensor.core.runtime.program_cache cimport Entry


@cython.final
cdef class Account:
    cdef public double interval
    cdef public object largest
    cdef public double seconds
    cdef public bint settles
    cdef object __weakref__

    @cython.locals(gain=double)
    cpdef object note(self, Entry entry, bint is_observed=*, double room=*)

    cpdef object lost(self, double seconds, object size)
    cdef bint _counts(self, object size) except -1
    cdef object _add(self, double gain, object size, bint automatic=*, object job=*)
    cdef object _raise(self, object job)


cdef str _asker()
