"""What a user's array holds: cells, views of them, and the counts of references to both."""
