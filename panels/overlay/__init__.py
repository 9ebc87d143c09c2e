"""Switches of the overlays."""
