"""How much of the code the frontends share, and how much of it a computation runs."""
