cimport cython


cdef class Signature:
    cdef public object op
    cdef public tuple attrs
    cdef public object type
    cdef public tuple parts
    cdef public long long work
    cdef public bint fuses
    cdef readonly int number
    cdef object __weakref__


@cython.no_gc
cdef class NodeBase:
    cdef public object op
    cdef public tuple operands
    cdef public tuple attrs
    cdef public object type
    cdef public object value
    cdef public object code
    cdef public int offset
    cdef readonly int kind
    cdef int at  # for `graph.pyx`
    cdef public long long serial


cdef class PendingWork:
    cdef public long long bound
    cdef public long long work
    cdef public bint fuses


cdef class Thread:
    cdef object values
    cdef object last
    cdef unsigned long long last_thread


cpdef object weak(object node)
cpdef object blank(object cls, object base)
cpdef PendingWork here()
cpdef NodeBase record(Signature signature, tuple operands, object cls=*)
cpdef long long nodes_made()
cpdef object user_frame()
cpdef object user_place()
cpdef object number(NodeBase node)
cpdef object locate(NodeBase node)
