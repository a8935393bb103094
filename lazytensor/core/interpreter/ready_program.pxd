# Compiled: each run of a small program calls it.
cimport cython

from lazytensor.core.buffers.refcounts cimport beside_the_list, has_own_array
from lazytensor.core.interpreter.steps cimport put_numbers


@cython.final
cdef class ReadyProgram:
    cdef list steps, places, values
    cdef public object numbers
    cdef str text
    cdef readonly tuple parameters, results, takes

    cpdef bint take(self, list numbers) except -1
    cpdef list values_of(self, list leaves)
    cpdef list given(self, list leaves, list owned)
    cpdef list run(self, list values, object given=*)
