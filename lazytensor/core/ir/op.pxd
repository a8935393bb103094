cimport cython

from lazytensor.core.ir.node cimport Input, Node, record_several
from lazytensor.core.ir.recording cimport Signature, here, locate, number, record


@cython.locals(made=Input)
cpdef Input leaf(object value, object type=*)
