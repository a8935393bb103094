"""The boxed kernel: calls of operations that were seen before, recorded without a Python kernel."""
