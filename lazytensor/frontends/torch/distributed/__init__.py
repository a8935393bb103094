"""Torch's process groups and plans on the device."""
