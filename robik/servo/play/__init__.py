"""Playing motions on a chain: the player, checks before it, and the command."""
