"""NumPy's public submodules."""
