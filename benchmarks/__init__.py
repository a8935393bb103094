"""The numbers: what must be reached, measured in one run. `python -m benchmarks --help`."""
