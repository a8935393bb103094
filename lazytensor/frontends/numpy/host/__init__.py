"""NumPy's part: what stays on the host, what is lent to it, what falls back to it."""
