"""RobIK: retargets animation onto robots, kinematic loops included."""

__version__ = "0.1.0"
