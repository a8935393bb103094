"""What recording takes from CPython. `recording.py` has the docstrings, and does the same."""

import threading

from lazytensor.core.ir.library_files import hidden as _hidden, is_hidden
from lazytensor.core.ir.trait import Trait

cimport cython
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_DECREF, Py_XDECREF
from cpython.weakref cimport PyWeakref_NewRef


cdef extern from "Python.h":
    ctypedef struct PyFrameObject
    ctypedef struct PyThreadState
    ctypedef struct PyCodeObject:
        PyObject* co_filename

    PyFrameObject* PyEval_GetFrame()
    PyFrameObject* PyFrame_GetBack(PyFrameObject* frame)
    PyCodeObject* PyFrame_GetCode(PyFrameObject* frame)
    int PyFrame_GetLasti(PyFrameObject* frame)
    PyThreadState* PyThreadState_Get()
    unsigned long long PyThreadState_GetID(PyThreadState* state)


ctypedef object (*NewFunction)(object cls, tuple args, PyObject* kwargs)

Place = tuple

cdef dict hidden = _hidden
cdef long long serials = 0


cpdef long long nodes_made():
    return serials


cdef inline bint is_users(PyCodeObject* code):
    cdef PyObject* known = PyDict_GetItem(hidden, <object>code.co_filename)
    if known == NULL:
        return not is_hidden(<object>code.co_filename)
    return <object>known is False


cdef PyFrameObject* innermost() except? NULL:
    """A new reference to the innermost frame that is the user's; NULL if there is none."""
    cdef PyFrameObject* frame = PyEval_GetFrame()
    cdef PyFrameObject* behind
    cdef PyCodeObject* code
    cdef bint found
    if frame == NULL:
        return NULL
    Py_INCREF(<object>frame)
    while frame != NULL:
        code = PyFrame_GetCode(frame)
        found = is_users(code)
        Py_DECREF(<object>code)
        if found:
            return frame
        behind = PyFrame_GetBack(frame)
        Py_DECREF(<object>frame)
        frame = behind
    return NULL


cpdef object user_frame():
    cdef PyFrameObject* frame = innermost()
    if frame == NULL:
        return None
    found = <object>frame
    Py_DECREF(found)
    return found


cpdef object user_place():
    cdef PyFrameObject* frame = innermost()
    if frame == NULL:
        return None
    code = <object>PyFrame_GetCode(frame)
    Py_DECREF(code)
    offset = PyFrame_GetLasti(frame)
    Py_DECREF(<object>frame)
    return code, offset


cdef int signatures = 0


cdef class Signature:
    def __init__(self, op, attrs, type, work=0):
        global signatures
        self.number = signatures
        signatures += 1
        self.op = op
        self.attrs = attrs
        self.type = type
        self.work = work
        self.fuses = Trait.ELEMENTWISE in op.traits
        self.parts = ()


@cython.no_gc
cdef class NodeBase:
    @property
    def place(self):
        return None if self.code is None else (self.code, self.offset)

    @place.setter
    def place(self, place):
        self.code, self.offset = (None, 0) if place is None else place


cpdef object number(NodeBase node):
    global serials
    node.serial = serials
    serials += 1


cpdef object locate(NodeBase node):
    cdef PyFrameObject* frame = innermost()
    if frame == NULL:
        return
    node.code = <object>PyFrame_GetCode(frame)
    Py_DECREF(node.code)
    node.offset = PyFrame_GetLasti(frame)
    Py_DECREF(<object>frame)


cdef class PendingWork:
    pass


cdef object make_recorder = None
cdef type node_class = None
cdef object after = None


def complete(node=None, recorder=None):
    global node_class, make_recorder
    if node is not None:
        node_class = node
    if recorder is not None:
        make_recorder = recorder


def call_after_each(hook):
    global after
    after = hook


class _Values(threading.local):
    def __getattr__(self, name):
        if name != "recorder":
            raise AttributeError(name)
        self.recorder = make_recorder()
        return self.recorder


cdef class Thread:
    # The last thread's recorder is kept at hand, under the number that no other thread ever has.
    def __cinit__(self):
        self.values = _Values()
        self.last_thread = 0

    @property
    def recorder(self):
        return here()

    @recorder.setter
    def recorder(self, recorder):
        self.values.recorder = recorder
        self.last_thread = 0


cdef Thread of_each = None


cpdef PendingWork here():
    cdef unsigned long long number = PyThreadState_GetID(PyThreadState_Get()) + 1
    if number == of_each.last_thread:
        return <PendingWork>of_each.last
    recorder = of_each.values.recorder
    before = of_each.last  # held, so that nothing runs between the two assignments
    of_each.last = recorder
    of_each.last_thread = number
    return recorder


of_each = Thread.__new__(Thread)
thread = of_each
cdef tuple NOTHING = ()


cpdef object weak(object node):
    return PyWeakref_NewRef(node, None)



cpdef object blank(object cls, object base):
    return (<NewFunction>(<PyTypeObject*>base).tp_new)(cls, NOTHING, NULL)


cdef inline void fill(NodeBase node, Signature signature, tuple operands, PendingWork recorder):
    node.op = signature.op
    node.operands = operands
    node.attrs = signature.attrs
    node.type = signature.type
    node.kind = signature.number
    recorder.work += signature.work


cpdef NodeBase record(Signature signature, tuple operands, object cls=None):
    cls = node_class if cls is None else cls
    cdef NodeBase node = <NodeBase>blank(cls, cls)
    cdef PendingWork recorder = here()
    fill(node, signature, operands, recorder)
    if not signature.fuses:
        recorder.fuses = False
    number(node)
    locate(node)
    if after is not None:
        after(node)
    return node


def record_part(Signature signature, tuple operands, object cls):
    cdef NodeBase node = <NodeBase>blank(cls, cls)
    cdef NodeBase whole = operands[0]
    fill(node, signature, operands, here())
    number(node)
    node.code, node.offset = whole.code, whole.offset
    if after is not None:
        after(node)
    return node
