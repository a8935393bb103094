"""What arrays of frontends hold. `array_base.py` has the docstrings, and does the same."""

from lazytensor.core.buffers.cell cimport Cell, View, enter, read
from lazytensor.core.ir.recording cimport NodeBase, blank
from lazytensor.core.ir.types cimport TensorType


cpdef object ref_of(Holder array):
    return (<object>array).ref if array.ref is None else array.ref  # a subclass's property


cpdef TensorType type_of(Holder array):
    ref = ref_of(array)
    if type(ref) is View:
        return (<View>ref).type
    return (<Cell>ref).node.type if type(ref) is Cell else ref.type


cdef class Holder:
    @property
    def node(self):
        return node_of(self)

    @property
    def type(self):
        return type_of(self)

    @property
    def shape(self):
        return type_of(self).shape

    @property
    def dtype(self):
        return type_of(self).dtype

    @property
    def ndim(self):
        return type_of(self).ndim

    @property
    def size(self):
        return type_of(self).size

    @property
    def itemsize(self):
        return type_of(self).dtype.itemsize

    @property
    def nbytes(self):
        return type_of(self).nbytes


cpdef NodeBase node_of(Holder array):
    ref = ref_of(array)
    if type(ref) is View:
        return read((<View>ref).cell, (<View>ref).chain)
    return (<Cell>ref).node if type(ref) is Cell else ref.node


cpdef Holder holding(object cls, NodeBase node):
    cdef Cell cell = Cell.__new__(Cell)
    enter(cell, node)
    cdef Holder array = <Holder>blank(cls, Holder)
    array.ref = cell
    return array


cpdef Holder showing(object cls, object ref, object shadow, object base):
    cdef Holder array = <Holder>blank(cls, Holder)
    array.ref = ref
    array._shadow = shadow
    array._base = base
    return array
