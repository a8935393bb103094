from lazytensor.core.ir.recording cimport NodeBase, Signature, number, record


cdef class Node(NodeBase):
    cdef object __weakref__


cdef class Recorded(Node):
    pass


cdef class TupleNode(Recorded):
    cdef public tuple parts


cdef class ResultNode(Node):
    pass


cdef class Input(Node):
    pass


@cython.locals(second=Node)
cdef Node _binary(str name, Node x, object other)

cdef Node _reversed(str name, Node x, object other)
cdef Node _unary(str name, Node x)

@cython.locals(whole=TupleNode)
cpdef tuple record_several(Signature signature, tuple operands, tuple picks)
