"""Lowerings of ops that move, reduce, sort or contract, and what they share."""
