"""Lowerings of ops that move, reduce, sort or contract, and their shared parts."""
