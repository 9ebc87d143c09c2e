"""Feetech servos without any hardware, byte for byte as real ones behind their port."""
