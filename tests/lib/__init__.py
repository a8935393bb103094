"""The compositions of `core/lib`: references, gradients, documentation."""
