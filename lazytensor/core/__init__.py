"""The framework-agnostic core: types, ops, nodes, cells, programs, and the compile cache."""
