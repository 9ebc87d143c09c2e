"""Target clips: what a robot is asked for over time."""
