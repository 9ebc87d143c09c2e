"""Operators of performances."""
