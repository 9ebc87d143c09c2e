"""Operators of contacts."""
