# Compiled: it is asked at each cut.
from lazytensor.core.runtime.program_cache cimport Entry
from lazytensor.core.runtime.tier_timing cimport Costs


cpdef double price_of(Py_ssize_t operations) except? -1
cpdef double estimate(Costs program) except? -1
cpdef double once(Costs program) except? -1
cpdef double debt(Costs program) except? -1
cpdef bint pays(Costs program) except -1
cpdef bint pays_import(double price, double spent) except -1
cpdef bint may_import(double price, double seconds) except -1
cpdef bint should_compile(Entry entry) except -1
cpdef bint is_overdue(Entry entry) except -1
cpdef bint outlasts_compile(Entry entry) except -1
cpdef bint is_worth_a_look(Entry entry) except -1
