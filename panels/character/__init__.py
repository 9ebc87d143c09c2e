"""Panels of the character."""
