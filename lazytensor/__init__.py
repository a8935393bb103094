"""Ordinary, eager-looking arrays whose operations are recorded, compiled by XLA and run."""
