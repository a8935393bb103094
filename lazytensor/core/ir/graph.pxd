from lazytensor.core.ir.recording cimport NodeBase


cdef class NumberedGraph:
    cdef readonly list recorded
    cdef readonly list outputs
    cdef readonly list nodes
    cdef readonly list leaves
    cdef readonly list slots
    cdef readonly list owned
    cdef readonly bytes key


cpdef list reachable(object outputs)
cpdef NumberedGraph numbered(list nodes, object outputs, bint keeping_held=*)
