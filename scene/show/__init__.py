"""Performances: triggers, live input and layers."""
