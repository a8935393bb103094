"""The cells of one thread whose nodes are pending. `pending.py` has the docstrings, and does the same.

A ring of links that lie in the cells themselves; `ends` is the ring's own link, with no cell. A cell
takes its link out of the ring when it dies, and the ring lets go of its links when it dies itself.
"""

from cpython.object cimport PyObject

from lazytensor.core.ir.recording cimport NodeBase


cdef extern from "Python.h":
    ctypedef struct RefCounted "PyObject":
        Py_ssize_t ob_refcnt


cdef inline void unlink(Link* link) noexcept:
    if link.before != NULL:
        link.before.behind = link.behind
        link.behind.before = link.before
        link.before = link.behind = NULL


cdef class Listed:
    def __cinit__(self, *args, **kwargs):
        self.link.cell = <PyObject*>self

    def __dealloc__(self):
        unlink(&self.link)


cdef class PendingCells:
    def __cinit__(self):
        self.ends.before = self.ends.behind = &self.ends

    def __dealloc__(self):
        while self.ends.behind != &self.ends:
            unlink(self.ends.behind)

    cpdef object add(self, Listed cell):
        cdef Link* link = &cell.link
        unlink(link)
        link.before = self.ends.before
        link.behind = &self.ends
        self.ends.before.behind = link
        self.ends.before = link

    cpdef list nodes(self):
        cdef dict found = {}
        cdef Link* link = self.ends.behind
        cdef Listed cell
        cdef NodeBase node
        while link != &self.ends:
            # A cell that is being freed is still here while its weak references are told.
            if (<RefCounted*>link.cell).ob_refcnt > 0:
                cell = <Listed>link.cell  # held, so that its link stays until the next one is read
                node = cell.node
                if node is not None and node.value is None:
                    found[node] = None
            link = link.behind
        return list(found)

    cpdef object keep_pending(self):
        cdef Link* link = self.ends.behind
        cdef Link* behind
        cdef Listed cell
        while link != &self.ends:
            behind = link.behind
            if (<RefCounted*>link.cell).ob_refcnt > 0:
                cell = <Listed>link.cell
                if cell.node is None or cell.node.value is not None:
                    unlink(link)
            link = behind

    def __len__(self):
        cdef Py_ssize_t count = 0
        cdef Link* link = self.ends.behind
        while link != &self.ends:
            count += 1
            link = link.behind
        return count
