"""Numbering a graph. `graph.py` has the docstrings, and does the same.

Invariants:
- Between calls every node's `at` is 0.
- No Python code runs while one is not, so that no other thread meets these marks.
"""

from operator import attrgetter
from weakref import getweakrefcount as _getweakrefcount

from lazytensor.core.ir.op import DATUM as _DATUM, PARAMETER as _PARAMETER, SLOT as _SLOT

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free, malloc

from lazytensor.core.ir.recording cimport NodeBase
from lazytensor.core.ir.types cimport TensorType


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(object)

cdef enum:
    NUMBERED = 1 << 30  # what is added to a line's index; less is a count of edges
    SPARSE = 4  # serial numbers per node from which a table of them does not pay

cdef object PARAMETER = _PARAMETER, SLOT = _SLOT, DATUM = _DATUM
cdef object weak_references = _getweakrefcount
cdef object by_serial = attrgetter("serial")


cdef class NumberedGraph:
    pass


cdef inline void forget(list nodes) noexcept:
    cdef NodeBase node
    for n in nodes:
        node = <NodeBase>n
        node.at = 0
        for x in node.operands:
            (<NodeBase>x).at = 0


cdef list in_order(list nodes):
    """The nodes by serial number: those of one graph are mostly neighbours."""
    cdef Py_ssize_t count = len(nodes), span
    cdef long long low, high
    if count < 2:
        return nodes
    low = high = (<NodeBase>nodes[0]).serial
    for x in nodes:
        low = min(low, (<NodeBase>x).serial)
        high = max(high, (<NodeBase>x).serial)
    span = high - low + 1
    if span > SPARSE * count:
        nodes.sort(key=by_serial)
        return nodes
    cdef PyObject** table = <PyObject**>calloc(span, sizeof(PyObject*))
    if table == NULL:
        raise MemoryError
    for x in nodes:
        table[(<NodeBase>x).serial - low] = <PyObject*>x
    cdef list ordered = []
    try:
        for i in range(span):
            if table[i] != NULL:
                ordered.append(<object>table[i])
    finally:
        free(table)
    return ordered


before_reading = []


cpdef list reachable(object outputs):
    cdef list asked = list(outputs)
    cdef list nodes = pending(asked)
    if before_reading and any([settle(nodes) for settle in before_reading]):
        nodes = pending(asked)
    return nodes


cdef list pending(list asked):
    cdef list nodes = []
    cdef NodeBase node, operand
    cdef Py_ssize_t i = 0
    try:
        for node in asked:
            if node.value is None and not node.at:
                node.at = 1
                nodes.append(node)
        while i < len(nodes):
            node = <NodeBase>nodes[i]
            i += 1
            for x in node.operands:
                operand = <NodeBase>x
                if operand.value is None and not operand.at:
                    operand.at = 1
                    nodes.append(operand)
    finally:
        forget(nodes)
    return in_order(nodes)


cdef class Writer:
    """Writes a key, and enters lines into a graph."""

    cdef NumberedGraph graph
    cdef int* numbers
    cdef Py_ssize_t used
    cdef Py_ssize_t lines

    def __cinit__(self, NumberedGraph graph):
        self.graph = graph

    cdef int reserve(self, Py_ssize_t bound) except -1:
        self.numbers = <int*>malloc(bound * sizeof(int))
        if self.numbers == NULL:
            raise MemoryError
        return 0

    def __dealloc__(self):
        free(self.numbers)

    cdef inline void write(self, int number) noexcept:
        self.numbers[self.used] = number
        self.used += 1

    cdef inline int enter(self, object node) except -1:
        self.graph.nodes.append(node)
        self.lines += 1
        return 0

    cdef int enter_input(self, object type, int kind) except -1:
        self.write(-1 - ((<TensorType>type).number * 3 + kind))
        return self.enter(None)

    cdef int enter_leaf(self, NodeBase node) except -1:
        cdef Py_ssize_t edges = node.at if node.at >= 0 else -1 - node.at
        cdef bint alone
        node.at = NUMBERED + <int>self.lines
        self.enter_input(node.type, 0)
        if node.value is not None:
            # Besides the edges, the caller's two variables refer to it.
            alone = Py_REFCNT(node) - edges <= 2 and not weak_references(node)
            self.graph.owned.append(alone)
            self.graph.leaves.append(node)
        return 0

    cdef int enter_node(self, NodeBase node) except -1:
        cdef NodeBase operand
        if node.op is PARAMETER:
            return self.enter_leaf(node)
        self.write(node.kind)
        self.write(<int>len(node.operands))
        for x in node.operands:
            operand = <NodeBase>x
            if operand.at >= NUMBERED:
                self.write(operand.at - NUMBERED)
            elif operand.op is SLOT or operand.op is DATUM:
                self.enter_input(operand.type, 1 if operand.op is SLOT else 2)
                self.graph.slots.append(operand.value)
            else:
                self.enter_leaf(operand)
        node.at = NUMBERED + <int>self.lines
        return self.enter(node)


cdef Py_ssize_t count_edges(list nodes) except -1:
    """Count in each node how often it is an operand. The result: how long the key may be."""
    cdef Py_ssize_t bound = 1
    cdef tuple operands
    for node in nodes:
        operands = (<NodeBase>node).operands
        bound += 2 + len(operands)
        for x in operands:
            (<NodeBase>x).at += 1
    return bound


cdef int add_held(list nodes, list asked, list outputs) except -1:
    """Put what is asked for, and what anything but the graph refers to, into `outputs`, in order.

    `at` is negative for what is asked for.
    """
    cdef NodeBase node
    for x in asked:
        node = <NodeBase>x
        if node.at >= 0:
            node.at = -1 - node.at
    for x in nodes:
        node = <NodeBase>x
        if node.at < 0:
            outputs.append(node)
        # Besides the edges, the list and two variables refer to it.
        elif node.at == 0 or Py_REFCNT(node) - node.at > 3:
            if type(node.type) is not tuple:
                outputs.append(node)
    return 0


cpdef NumberedGraph numbered(list nodes, object outputs, bint keeping_held=False):
    cdef NumberedGraph graph = NumberedGraph.__new__(NumberedGraph)
    cdef NodeBase node
    cdef Writer writer = Writer(graph)  # allocating may collect garbage, which runs Python code
    graph.recorded = nodes
    cdef list asked = list(outputs)
    graph.outputs = [] if keeping_held else asked
    graph.nodes, graph.leaves, graph.slots, graph.owned = [], [], [], []
    cdef Py_ssize_t bound
    try:
        bound = count_edges(nodes)
        if keeping_held:
            add_held(nodes, asked, graph.outputs)
        writer.reserve(bound + len(graph.outputs))
        writer.write(<int>len(nodes))
        for x in nodes:
            writer.enter_node(<NodeBase>x)
        for node in graph.outputs:
            if node.at >= NUMBERED:
                writer.write(node.at - NUMBERED)
            else:
                writer.enter_leaf(node)
    finally:
        forget(nodes)
        forget(asked)
    graph.key = PyBytes_FromStringAndSize(<char*>writer.numbers, writer.used * sizeof(int))
    return graph
