"""Panels of balance and contacts."""
