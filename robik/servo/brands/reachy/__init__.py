"""Servos of Reachy Mini behind its maker's daemon."""
