# Compiled: each cut is counted and timed.
cpdef double spent(str name, double start) except? -1
