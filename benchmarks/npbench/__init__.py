"""NPBench's kernels, from their NumPy source as it is: NumPy against LazyTensor."""
