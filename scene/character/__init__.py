"""The character that a robot follows: targets, sampling, and the way from its world to the robot's."""
