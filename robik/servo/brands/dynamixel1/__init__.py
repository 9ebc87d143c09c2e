"""Dynamixel servos of Protocol 1.0 (AX, RX, EX, and MX on that firmware): control tables, line, workshop, simulator."""
