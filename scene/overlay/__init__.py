"""Overlays: drawings in the views and editors."""
