cimport cython

from lazytensor.core.ir.recording cimport NodeBase, Signature, number, record


@cython.no_gc
cdef class Node(NodeBase):
    cdef object __weakref__


@cython.no_gc
cdef class Recorded(Node):
    pass


@cython.no_gc
cdef class TupleNode(Recorded):
    cdef public tuple parts


@cython.no_gc
cdef class ResultNode(Node):
    pass


@cython.no_gc
cdef class Input(Node):
    pass


@cython.locals(second=Node)
cdef Node _binary(str name, Node x, object other)

cdef Node _reversed(str name, Node x, object other)
cdef Node _unary(str name, Node x)

@cython.locals(whole=TupleNode)
cpdef tuple record_several(Signature signature, tuple operands, tuple picks)
