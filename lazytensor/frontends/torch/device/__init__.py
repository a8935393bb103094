"""The device as programs see it: its registration, modules on it, autocast, `torch.compile`."""
