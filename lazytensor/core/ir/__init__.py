"""The intermediate representation: types, nodes, ops, programs, and what a thread records."""
