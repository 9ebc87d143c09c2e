"""A character that walks, to try the first robot with."""
