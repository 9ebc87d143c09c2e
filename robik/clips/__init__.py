"""Target clips: what a robot is asked for over time, and where, when and on what it stands."""
