"""Backends: compilers that run programs."""
