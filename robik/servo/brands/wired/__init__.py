"""Servos on a wire with control tables: what lines, wires and workshops of any brand have in common."""
