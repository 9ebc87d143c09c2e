"""A whole clip: what should be followed, what came out, and the way between."""
