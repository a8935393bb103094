"""Rows of neural networks: layers, losses, and their gradients."""
