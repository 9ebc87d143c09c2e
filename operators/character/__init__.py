"""Operators of the character: performers, targets, mapping."""
