"""The bake and its results, and following live."""
