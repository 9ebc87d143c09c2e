"""Chains of servos as files and values: which servo moves which actuator, and its trajectory."""
