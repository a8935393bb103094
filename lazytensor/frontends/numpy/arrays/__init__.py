"""The array type: its methods, operators, protocols and layout."""
