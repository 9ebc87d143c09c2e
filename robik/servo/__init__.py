"""Playing a motion on a chain of servos: the chain, the bus, the player, a simulated chain, and files for boards that
play alone."""
