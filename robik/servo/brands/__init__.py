"""Brands of servos: their models as data, their packets, and a simulator each."""
