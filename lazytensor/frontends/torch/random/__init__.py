"""Random streams and the distributions that are drawn from them."""
