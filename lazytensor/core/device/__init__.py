"""The device below: what a backend offers, and memory."""
