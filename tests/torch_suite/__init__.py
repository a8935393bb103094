"""PyTorch's own device-generic tests, run on the device from a checkout of PyTorch."""
