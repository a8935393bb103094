"""Rows of linear algebra."""
