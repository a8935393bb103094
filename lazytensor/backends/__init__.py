"""Compilers that run programs."""
