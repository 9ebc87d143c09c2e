"""Dynamixel servos of Protocol 1.0 without any hardware, byte for byte as real ones behind their port."""
