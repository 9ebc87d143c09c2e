"""A clip becomes a motion: every frame from the one before, then all at once; and motions of one robot on another."""
