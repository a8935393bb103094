"""From what TensorFlow calls to a row: entry, table, plans, fallbacks, steps."""
