"""Settles real operators as operators on float32: what has no scale, and what integers have no form of."""
