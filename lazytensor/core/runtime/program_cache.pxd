# Compiled: each cut reads and writes an entry.
cimport cython

from lazytensor.core.interpreter.ready_program cimport ReadyProgram
from lazytensor.core.runtime.tier_timing cimport Costs


@cython.final
cdef class Entry(Costs):
    cdef readonly object program
    cdef readonly object extent
    cdef public object history
    cdef public object executable
    cdef public tuple donated
    cdef public object owned
    cdef public Py_ssize_t disowned
    cdef public bint outdated
    cdef public object job
    cdef public bint sought
    cdef public object arrived
    cdef public bint refused
    cdef public object twin
    cdef public object growth
    cdef public bint padded
    cdef public object compiled_by
    cdef readonly list keys
    cdef public object agreed
    cdef public bint is_plain, broken
    cdef public ReadyProgram ready
    cdef object __weakref__

    cpdef object owe(self, double seconds)


@cython.final
cdef class Cache:
    cdef object _entries
    cdef dict _by_key, _by_instructions
    cdef readonly object lock
    cdef public double spent
    cdef readonly dict calls, families

    cpdef Entry known(self, bytes key)
