"""A chain of servos without any hardware, byte for byte as a real one behind its port."""
