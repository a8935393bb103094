"""Calls of `tf.function`: bodies, control flow, and calls as one node."""
