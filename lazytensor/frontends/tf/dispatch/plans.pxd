# Compiled: each recorded raw op runs one.
cimport cython

from lazytensor.core.ir.recording cimport Signature, record


cdef class Declaration:
    cdef readonly bint always
    cdef readonly object definition
    cdef readonly object demands
    cdef readonly object function
    cdef readonly tuple host
    cdef readonly bint moving
    cdef readonly str name


@cython.final
cdef class RowPlan:
    cdef readonly object call
    cdef readonly tuple form
    cdef readonly tuple hosts
    cdef readonly tuple inferred
    cdef readonly tuple lengths
    cdef readonly tuple picks
    cdef readonly Signature signature

    cpdef list run(self, list operands)


cpdef list _recorded(Signature signature, object operands)
