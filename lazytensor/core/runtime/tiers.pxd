# Compiled: it is asked at each cut.
from lazytensor.core.runtime cimport cost_model
from lazytensor.core.runtime.program_cache cimport Entry


cpdef bint is_due(Entry entry) except -1
cpdef bint is_timed(Entry entry) except -1
cpdef bint is_improvable(Entry entry) except -1
cpdef bint is_numpys(Entry entry) except -1
