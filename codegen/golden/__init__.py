"""The golden model: the numpy reference that defines every result."""
