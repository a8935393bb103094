cimport cython

from lazytensor.core.ir.node cimport Node
from lazytensor.core.ir.recording cimport NodeBase, Signature, here, record, weak
from lazytensor.core.ir.pending cimport Listed
from lazytensor.core.ir.trace_state cimport Recorder, with_room


@cython.final
cdef class ViewStep:
    cdef public object _shown
    cdef readonly tuple attrs
    cdef readonly tuple data
    cdef readonly object op
    cdef readonly dict reads
    cdef readonly object starts
    cdef readonly dict writes
    cdef object __weakref__

    cpdef Signature signature(self, object base)

    @cython.locals(signature=Signature)
    cpdef Node read(self, Node base)

    @cython.locals(signature=Signature, data=tuple)
    cpdef Node write(self, Node base, Node value)


@cython.no_gc
cdef class Cell(Listed):
    cdef public object memory
    cdef public object reads
    cdef public Recorder recorder
    cdef public object watcher


@cython.no_gc
cdef class View:
    cdef public Cell cell
    cdef public tuple chain
    cdef public object type
    cdef object __weakref__


@cython.locals(made=View, step=ViewStep)
cpdef View view_of(Cell cell, tuple chain, object type_=*)

@cython.locals(view=View)
cpdef object view_through(object ref, tuple steps, object type_=*)

@cython.locals(step=ViewStep)
cpdef Node written(object cell, tuple chain, Node node)

@cython.locals(recorder=Recorder)
cpdef object enter(Cell cell, NodeBase node)

@cython.locals(recorder=Recorder)
cpdef object put(Cell cell, NodeBase node)

@cython.locals(recorder=Recorder, is_plain=cython.bint)
cpdef object write_through(Cell cell, tuple chain, Node node)
cpdef tuple extend(tuple chain, tuple steps)

@cython.locals(step=ViewStep, signature=Signature, node=Node, plain=Cell, reads=dict)
cpdef Node read(object cell, tuple chain)
