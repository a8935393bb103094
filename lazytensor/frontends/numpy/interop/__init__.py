"""Arrays and classes of other libraries."""
