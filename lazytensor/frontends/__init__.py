"""Frontends: each a tensor class, a table of the framework's operations, and a promotion rule."""
