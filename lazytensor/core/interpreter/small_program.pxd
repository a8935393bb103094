cimport cython


cdef class SmallProgram:
    cdef list steps, places, values
    cdef public object numbers
    cdef str text
    cdef tuple outputs, parameters

    @cython.locals(values=list)
    cpdef list values_of(self, list leaves)

    @cython.locals(operands=tuple, arguments=list)
    cpdef list _run(self, list values)
