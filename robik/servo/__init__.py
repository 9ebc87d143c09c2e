"""Playing motions on a chain of servos.

The chain, the bus, the player, a simulated chain, and files for boards that play alone.
"""
