"""The brand Dynamixel: its protocol, its control tables, stopping by the bus watchdog, and simulated servos."""
