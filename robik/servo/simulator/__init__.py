"""Simulated servos of any brand behind a port, in a process of their own or in this one."""
