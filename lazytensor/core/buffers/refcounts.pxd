# Compiled: the interpreter asks it before each operation that may take an operand's memory.
from lazytensor.core.ir.recording cimport NodeBase


cpdef bint has_own_array(NodeBase leaf) except -1
cpdef bint is_unshared(list values, Py_ssize_t i, object held, Py_ssize_t views=*) except -1
cpdef Py_ssize_t beside_the_list(list values, Py_ssize_t i) except? -1
