"""Lowerings of convolution: one form for each kind of shape."""
