"""Where a robot's bodies should be."""
