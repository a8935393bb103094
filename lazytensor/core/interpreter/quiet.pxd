# Compiled: each run of a small program calls it.
cdef object _quiet_context()
