"""Feetech STS and SMS servos: their protocol, their control tables, and what RobIK does with them."""
