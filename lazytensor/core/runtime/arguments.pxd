# Compiled: each leaf and each result passes through it.
from lazytensor.core.ir.recording cimport NodeBase


cpdef object host_value(NodeBase leaf)
cpdef object in_rows(object value)
