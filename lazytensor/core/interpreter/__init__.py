"""The host tier: programs run by NumPy, one kernel per op."""
