"""Panels of performances."""
