"""Ufuncs: their rows, promotion, methods, and what is checked of results."""
