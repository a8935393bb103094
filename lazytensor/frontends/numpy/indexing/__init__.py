"""Keys: views, advanced indices, masks, and what is written through them."""
